import { randomBytes, randomInt } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning, startMarkOf } from "@tessera/kit/service/running-process";

/** Keeps a directory for this process until it is released. */
export interface DirectoryLock {
  release(): Promise<void>;
}

/** Two contenders that see each other both retry after a moment. A real holder still has its claim after the last attempt. */
const attempts = 6;

/**
 * Takes a directory for this process, or returns the id of the process that has it.
 *
 * Each contender first writes a claim, an empty file with a name for its process, and then looks for other claims. The
 * later of two sees the earlier one, so at most one gets the lock. An empty file cannot be half written. Claims of
 * processes that have ended are deleted.
 */
export async function tryLockDirectory(directory: string): Promise<DirectoryLock | { readonly heldBy: number }> {
  for (let attempt = 1; ; attempt += 1) {
    const claim = `lock.${process.pid}.${startMarkOf(process.pid) ?? "0"}.${randomBytes(4).toString("hex")}`;
    const path = join(directory, claim);
    await writeFile(path, "", { flag: "wx", mode: 0o644 });
    const heldBy = await findOtherHolder(directory, claim);
    if (heldBy === undefined) return { release: () => rm(path, { force: true }) };
    await rm(path, { force: true });
    if (attempt === attempts) return { heldBy };
    await sleep(randomInt(5, 20 * attempt));
  }
}

async function findOtherHolder(directory: string, own: string): Promise<number | undefined> {
  for (const name of await readdir(directory)) {
    const [, pid, startMark] = /^lock\.([0-9]{1,10})\.([0-9a-f-]+)\.[0-9a-f]{8}$/.exec(name) ?? [];
    if (pid === undefined || name === own) continue;
    if (isRunning(Number(pid), startMark === "0" ? undefined : startMark)) return Number(pid);
    await rm(join(directory, name), { force: true });
  }
  return undefined;
}
