import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { chmod, readdir, rename, rm, stat } from "node:fs/promises";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { isRunning } from "../service/running-process.ts";
import { makeFolder } from "./make-folder.ts";

/** Folders for what is made once per machine, the best first. */
export function cacheDirectories(): string[] {
  const own = process.getuid?.() ?? 0;
  const shared = join(tmpdir(), `tessera-cache-${own}`);
  if (own === 0) return ["/var/cache/tessera", shared];
  return [join(process.env["XDG_CACHE_HOME"] || join(homedir(), ".cache"), "tessera"), shared];
}

/**
 * Makes a folder in a cache unless it is there: whole or not at all, whatever is killed and however many processes make it
 * at a time. Its name has the version of what it holds.
 */
export async function keepOnce({
  cache,
  name,
  fill,
}: {
  readonly cache: string;
  readonly name: string;
  /** Fills a folder, which it also creates. */
  readonly fill: (draft: string) => Promise<void>;
}): Promise<string> {
  const target = join(cache, name);
  await makeFolder(cache, { mode: 0o755 });
  // A program that another account can replace must not be run.
  const { uid, mode } = await stat(cache);
  if (uid !== process.getuid?.() || (mode & 0o022) !== 0) throw new Error(`${cache} can be written by others`);
  if (existsSync(target)) return target;

  await sweepDrafts(cache, name);
  const draft = `${target}.${process.pid}-${randomBytes(4).toString("hex")}`;
  try {
    await fill(draft);
    await chmod(cache, 0o755);
    await rename(draft, target);
  } catch (error) {
    // Another process may have made the folder first.
    if (!existsSync(target)) throw error;
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return target;
}

/** Removes the drafts of processes that were killed. */
async function sweepDrafts(cache: string, name: string): Promise<void> {
  for (const entry of await readdir(cache)) {
    const pid = entry.startsWith(`${name}.`) ? Number.parseInt(entry.slice(name.length + 1), 10) : Number.NaN;
    if (pid > 0 && !isRunning(pid)) await rm(join(cache, entry), { recursive: true, force: true });
  }
}
