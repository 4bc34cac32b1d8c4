import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMarkOf } from "@tessera/kit/service/running-process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type DirectoryLock, tryLockDirectory } from "./lock-directory.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-lock-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const inUse = { heldBy: process.pid };

async function lock(): Promise<DirectoryLock> {
  const taken = await tryLockDirectory(directory);
  if ("heldBy" in taken) throw new Error(`process ${taken.heldBy} has the directory`);
  return taken;
}

describe("tryLockDirectory", () => {
  it("is had by one at a time, and again once released", async () => {
    const first = await lock();
    expect(await tryLockDirectory(directory)).toEqual(inUse);
    await first.release();
    expect(await readdir(directory)).toEqual([]);
    await (await lock()).release();
  });

  it("is never had by two of many who come at once", async () => {
    for (let round = 0; round < 4; round++) {
      const results = await Promise.all(Array.from({ length: 8 }, () => tryLockDirectory(directory)));
      const locks = results.filter((result) => "release" in result);
      expect(locks.length).toBeLessThanOrEqual(1);
      for (const taken of locks) await taken.release();
    }
    await (await lock()).release();
  });

  it("is taken over from a process that ended", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    await writeFile(join(directory, `lock.${pid}.123-abc.00000000`), "");
    const taken = await lock();
    expect(await readdir(directory)).toHaveLength(1);
    await taken.release();
  });

  it.runIf(startMarkOf(process.pid) !== undefined)(
    "is taken over from a process whose id meanwhile belongs to another",
    async () => {
      await writeFile(join(directory, `lock.${process.pid}.123-abc.00000000`), "");
      await (await lock()).release();
      await writeFile(join(directory, `lock.${process.pid}.${startMarkOf(process.pid)}.00000000`), "");
      expect(await tryLockDirectory(directory)).toEqual(inUse);
    },
  );
});
