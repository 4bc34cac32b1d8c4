import { randomUUID } from "node:crypto";
import { readdir, readlink, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isRunning, startMarkOf } from "@tessera/kit/running-process";

/** Each chunk updates the time of its file. A file without a chunk for an hour is abandoned. */
const abandonedAfterMs = 3_600_000;

const separator = "~";

/** Makes a name for a file that is being written. It names the writing process, so that others can delete it after a crash. */
export async function leftoverName(): Promise<string> {
  const owner = [await realm(), process.pid, startMarkOf(process.pid) ?? ""];
  return [...owner, randomUUID()].join(separator);
}

/**
 * Removes the files of processes that have ended. Files of this machine and container are removed at once, others after
 * an hour. A file that cannot be removed is left.
 */
export async function clearLeftovers(folder: string): Promise<void> {
  const here = await realm();
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (hasEnded(name, here) || (await isOld(path))) await rm(path, { force: true }).catch(() => {});
  }
}

/** The machine and container that a process id belongs to. */
async function realm(): Promise<string> {
  const namespace = await readlink("/proc/self/ns/pid").catch(() => "");
  return encodeURIComponent(`${hostname()} ${namespace}`);
}

function hasEnded(name: string, here: string): boolean {
  const [where, pid = "", startMark = ""] = name.split(separator);
  if (where !== here || !/^[1-9]\d*$/.test(pid)) return false;
  return !isRunning(Number(pid), startMark === "" ? undefined : startMark);
}

async function isOld(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found !== undefined && Date.now() - found.mtimeMs > abandonedAfterMs;
}
