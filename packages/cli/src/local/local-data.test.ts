import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLocalData } from "./local-data.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-data-"));
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const put = async (path: string) => {
  await mkdir(join(directory, path, ".."), { recursive: true });
  await writeFile(join(directory, path), "mine");
};
const read = (path: string) => readFile(join(directory, path), "utf8");
const fresh = () => openLocalData({ directory, fresh: true });

describe("a fresh start", () => {
  it("deletes what a platform has written, and nothing beside it", async () => {
    const data = await openLocalData({ directory, fresh: false });
    const key = await data.keptSecret("operator-key");
    for (const path of ["files/content/uploads/x", "files/content/uploads+/y", "notes.txt", "tessera.log"])
      await put(path);
    const again = await fresh();
    expect((await readdir(directory)).sort()).toEqual(["files", "notes.txt"]);
    expect(await readdir(again.files)).toEqual(["made-by-tessera"]);
    expect(await again.keptSecret("operator-key")).not.toBe(key);
    await fresh();
  });

  it.each([
    ["files that were there before the platform", "files", "content/holiday.jpg"],
    ["something else where the database would be", "postgres/data", "thesis.odt"],
  ])("is refused where it would delete %s", async (_name, folder, name) => {
    const path = join(folder, name);
    await put(path);
    await put("tessera.log");
    await openLocalData({ directory, fresh: false });
    await expect(fresh()).rejects.toMatchObject({
      code: "data_not_ours",
      message: expect.stringContaining(`delete ${join(directory, folder)},`),
    });
    expect(await Promise.all([path, "tessera.log"].map(read))).toEqual(["mine", "mine"]);
  });
});

describe("the operations port", () => {
  it("is that of the last start, also after a fresh one", async () => {
    const data = await openLocalData({ directory, fresh: false });
    expect(await data.operationsPort()).toBeUndefined();
    await data.keepOperationsPort(45_678);
    expect(await (await fresh()).operationsPort()).toBe(45_678);
  });

  it.each(["", "none", "0", "70000"])("is not read from a file with %j", async (content) => {
    const data = await openLocalData({ directory, fresh: false });
    await writeFile(join(directory, "operations-port"), content);
    expect(await data.operationsPort()).toBeUndefined();
  });
});

describe("the operator key", () => {
  it("is made once where none is set, and one that is set is not one that was made", async () => {
    const data = await openLocalData({ directory, fresh: false });
    const made = await data.operatorKey({});
    expect(made.madeOperatorKey).toMatch(/^[0-9a-f]{64}$/);
    expect(await data.operatorKey({ TESSERA_OPERATOR_KEY: "" })).toEqual(made);
    expect(await data.operatorKey({ TESSERA_OPERATOR_KEY: "set" })).toEqual({
      operatorKey: "set",
      madeOperatorKey: undefined,
    });
  });
});

describe("a data folder", () => {
  it("that can never be made is refused at once", async () => {
    await writeFile(join(directory, "file"), "");
    for (const path of ["/proc/tessera", join(directory, "file/data")])
      await expect(openLocalData({ directory: path, fresh: false })).rejects.toMatchObject({
        code: "data_directory_not_writable",
      });
  });
});
