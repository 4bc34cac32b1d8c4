import { randomBytes, randomInt } from "node:crypto";
import { readdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isRunning, startMarkOf } from "@tessera/kit/running-process";
import { fault } from "./faults.ts";

/** A directory that is this process's alone until released. */
export interface DataLock {
  release(): Promise<void>;
}

/** Contenders that see each other step back for a moment; a true holder is still there after the last of these. */
const attempts = 6;

/**
 * Takes a directory for this process.
 *
 * Each contender first writes a claim, an empty file that is named after its process, and then looks for others. The
 * later of two sees the earlier one, so two never both believe that they are alone, and a claim has no content that
 * could be half written. Claims of processes that no longer run are deleted.
 */
export async function lockDirectory(directory: string): Promise<DataLock> {
  for (let attempt = 1; ; attempt++) {
    const claim = `lock.${process.pid}.${startMarkOf(process.pid) ?? "0"}.${randomBytes(4).toString("hex")}`;
    const path = join(directory, claim);
    await writeFile(path, "", { flag: "wx", mode: 0o644 });
    const holder = await findOtherHolder(directory, claim);
    if (holder === undefined) return { release: () => rm(path, { force: true }) };
    await rm(path, { force: true });
    if (attempt === attempts) {
      throw fault(
        "data_directory_in_use",
        `the data directory ${directory} is in use by process ${holder}: stop that process, or choose another directory`,
      );
    }
    await sleep(randomInt(5, 20 * attempt));
  }
}

async function findOtherHolder(directory: string, own: string): Promise<number | undefined> {
  for (const name of await readdir(directory)) {
    const match = /^lock\.([0-9]{1,10})\.([0-9a-f-]+)\.[0-9a-f]{8}$/.exec(name);
    if (match === null || name === own) continue;
    const [, pid, startMark = "0"] = match;
    if (isRunning(Number(pid), startMark === "0" ? undefined : startMark)) return Number(pid);
    await rm(join(directory, name), { force: true });
  }
  return undefined;
}
