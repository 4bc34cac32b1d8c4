import { readdir, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Each chunk updates the time of its file. A file without a chunk for an hour is abandoned. */
const abandonedAfterMs = 3_600_000;

/** Removes files whose writer was killed. One that cannot be removed is left. */
export async function clearLeftovers(folder: string): Promise<void> {
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (await isOld(path)) await rm(path, { force: true }).catch(() => {});
  }
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > abandonedAfterMs;
}
