import { spawnSync } from "node:child_process";
import { mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startMarkOf } from "@tessera/kit/running-process";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { lockDataDirectory, tryLockDirectory } from "./lock-directory.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-lock-"));
});
afterEach(async () => {
  await rm(directory, { recursive: true });
});

const inUse = { name: "Fault", kind: "unmet", code: "data_directory_in_use" };

describe("lockDataDirectory", () => {
  it("is had by one at a time, and again once released", async () => {
    const first = await lockDataDirectory(directory);
    await expect(lockDataDirectory(directory)).rejects.toMatchObject(inUse);
    await first.release();
    expect(await readdir(directory)).toEqual([]);
    const second = await lockDataDirectory(directory);
    await second.release();
  });

  it("names the holder and the directory to the person who is refused", async () => {
    const lock = await lockDataDirectory(directory);
    const refused = await lockDataDirectory(directory).catch((error: Error) => error.message);
    expect(refused).toContain(String(process.pid));
    expect(refused).toContain(directory);
    await lock.release();
  });

  it("tells a process that can wait who has it", async () => {
    const lock = await lockDataDirectory(directory);
    expect(await tryLockDirectory(directory)).toEqual({ heldBy: process.pid });
    await lock.release();
    const next = await tryLockDirectory(directory);
    expect(next).toHaveProperty("release");
    if ("release" in next) await next.release();
  });

  it("is never had by two of many who come at once", async () => {
    for (let round = 0; round < 4; round++) {
      const results = await Promise.allSettled(Array.from({ length: 8 }, () => lockDataDirectory(directory)));
      const locks = results.filter((result) => result.status === "fulfilled");
      expect(locks.length).toBeLessThanOrEqual(1);
      for (const lock of locks) await lock.value.release();
    }
    const lock = await lockDataDirectory(directory);
    await lock.release();
  });

  it("is taken over from a process that ended", async () => {
    const { pid } = spawnSync(process.execPath, ["--version"]);
    await writeFile(join(directory, `lock.${pid}.123-abc.00000000`), "");
    const lock = await lockDataDirectory(directory);
    expect(await readdir(directory)).toHaveLength(1);
    await lock.release();
  });

  it.runIf(startMarkOf(process.pid) !== undefined)(
    "is taken over from a process whose id meanwhile belongs to another",
    async () => {
      await writeFile(join(directory, `lock.${process.pid}.123-abc.00000000`), "");
      const lock = await lockDataDirectory(directory);
      await lock.release();
      await writeFile(join(directory, `lock.${process.pid}.${startMarkOf(process.pid)}.00000000`), "");
      await expect(lockDataDirectory(directory)).rejects.toMatchObject(inUse);
    },
  );
});
