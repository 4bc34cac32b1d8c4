import { randomUUID } from "node:crypto";
import { readdir, readlink, rm, stat } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import { isRunning, startMarkOf } from "../running-process.ts";

/** Every chunk touches the file it is written to; a source that says nothing for an hour is gone. */
const abandonedAfterMs = 3_600_000;

const separator = "~";

/** Names a file that is being written, so that after a crash others can tell that nobody writes it any more. */
export async function leftoverName(): Promise<string> {
  const owner = [await realm(), process.pid, startMarkOf(process.pid) ?? ""];
  return [...owner, randomUUID()].join(separator);
}

/**
 * Removes what processes left that have ended: those that can be asked about at once, those of other machines and
 * containers after an hour. What cannot be removed hinders nobody.
 */
export async function clearLeftovers(folder: string): Promise<void> {
  const here = await realm();
  for (const name of await readdir(folder).catch(() => [])) {
    const path = join(folder, name);
    if (hasEnded(name, here) || (await isOld(path))) await rm(path, { force: true }).catch(() => {});
  }
}

/** Where the numbers of processes mean something: a machine, and on it a container. */
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
