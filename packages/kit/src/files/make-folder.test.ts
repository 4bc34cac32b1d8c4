import { existsSync } from "node:fs";
import { mkdtemp, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { makeFolder } from "./make-folder.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-make-folder-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

describe("a folder", () => {
  it("is made with those above it, and the first of them is told", async () => {
    const path = join(directory, "a/b/c");
    expect(await makeFolder(path, { mode: 0o750 })).toBe(join(directory, "a"));
    expect(await makeFolder(path)).toBeUndefined();
    expect((await stat(join(directory, "a/b"))).mode & 0o777).toBe(0o750);
  });

  it("is made by one of many at a time", async () => {
    const path = join(directory, "a/b/c/d");
    const firsts = await Promise.all(Array.from({ length: 20 }, () => makeFolder(path)));
    expect(firsts).toContain(join(directory, "a"));
    expect((await stat(path)).isDirectory()).toBe(true);
  });

  it("is not made where a file is", async () => {
    const file = join(directory, "file");
    await writeFile(file, "");
    await expect(makeFolder(file)).rejects.toMatchObject({ code: "EEXIST" });
    await expect(makeFolder(join(file, "a/b"))).rejects.toMatchObject({ code: "ENOTDIR" });
  });

  it.skipIf(!existsSync("/proc/self"))("is refused where none can ever be made, and not tried for ever", async () => {
    await expect(makeFolder("/proc/tessera/data")).rejects.toMatchObject({ code: "ENOENT" });
  });
});
