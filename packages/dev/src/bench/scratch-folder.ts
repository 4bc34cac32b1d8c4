import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeWithParent } from "@tessera/testkit/engines/engine-process";

/** Makes a folder for the data of a benchmark, of which nothing is left: also Ctrl-C removes it. */
export async function makeScratchFolder(
  parent = tmpdir(),
): Promise<{ readonly path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(parent, "tessera-bench-"));
  // As root the database has an account of its own, which must get to the folder.
  await chmod(path, 0o755);
  const watchdog = removeWithParent(path);
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true });
      watchdog.release();
    },
  };
}
