import fs from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { findLocalPlatform, localPlatformFile, noteLocalPlatform } from "../local/local-platform.ts";
import { findAccess } from "./operator-access.ts";

const local = {
  baseUrl: "https://tickets.example",
  url: "http://127.0.0.1:8017",
  processes: [{ name: "all", operationsPort: 1 }],
  isKeyInFolder: true,
};

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "tessera-access-"));
  await writeFile(join(directory, "operator-key"), "made-key\n");
  vi.stubEnv("TESSERA_OPERATOR_KEY", "");
  vi.stubEnv("BASE_URL", "");
});
afterEach(() => rm(directory, { recursive: true, force: true }));

const find = (given: { url?: string; key?: string } = {}) =>
  findAccess({ url: given.url, key: given.key, "key-file": undefined, data: directory });

describe("a platform that runs on a data folder", () => {
  it("is found with its address and its key, until it stops", async () => {
    const note = await noteLocalPlatform(directory, local);
    expect(await find()).toEqual({ url: local.url, key: "made-key" });
    expect(await find({ url: "http://localhost:8017" })).toEqual({ url: "http://localhost:8017", key: "made-key" });
    expect(await find({ key: "given" })).toEqual({ url: local.url, key: "given" });
    await note.forget();
    await expect(find()).rejects.toMatchObject({
      code: "no_platform",
      message: `no platform is ready on the data folder ${directory}; start it, or pass --url`,
    });
  });

  it("[Y3.1] is called at its own address where its folder is named, whatever BASE_URL is, and at --url alone where that is given", async () => {
    vi.stubEnv("BASE_URL", "https://tickets.example");
    vi.stubEnv("TESSERA_OPERATOR_KEY", "configured-key");
    const away = { url: "https://tickets.example", key: "configured-key" };
    // That address may be of another platform.
    await expect(find()).rejects.toMatchObject({ code: "no_platform" });
    await noteLocalPlatform(directory, { ...local, isKeyInFolder: false });
    expect(await find()).toEqual({ url: local.url, key: "configured-key" });
    expect(await find({ url: "https://other.example" })).toEqual({ ...away, url: "https://other.example" });
    expect(await findAccess({ url: undefined, key: undefined, "key-file": undefined, data: undefined })).toEqual(away);
  });

  it("gives its key to no other platform", async () => {
    await noteLocalPlatform(directory, local);
    for (const url of ["http://127.0.0.1:8018", "http://elsewhere.example:8017", "nonsense"])
      await expect(find({ url })).rejects.toMatchObject({ code: "no_operator_key" });
  });

  it("gives no key where one is set: that in the folder may be of another start", async () => {
    await noteLocalPlatform(directory, { ...local, isKeyInFolder: false });
    await expect(find()).rejects.toMatchObject({ code: "no_operator_key" });
  });

  it("is not asked for where address and key are named, and may be unreadable then", async () => {
    await noteLocalPlatform(directory, local);
    // Root may read everything.
    const denied = Object.assign(new Error("EACCES: permission denied"), { code: "EACCES" });
    const readable = vi.spyOn(fs.promises, "readFile").mockRejectedValue(denied);
    syncBuiltinESMExports();
    try {
      await expect(find()).rejects.toMatchObject({ code: "data_folder_unreadable", cause: denied });
      const url = "https://elsewhere.example";
      expect(await find({ url, key: "given" })).toEqual({ url, key: "given" });
    } finally {
      readable.mockRestore();
      syncBuiltinESMExports();
    }
  });

  it.each([
    ["localhost:8000", "localhost:8000 is no URL; pass --url as http://localhost:8000"],
    ["http://ada:pass-word@tickets.example", "the address of the platform has a user or a password"],
    ["ada:pass-word@tickets.example", "the address of the platform is no URL"],
  ])("is asked by an address of HTTP alone, and %s is refused without its password", async (url, message) => {
    const refused = await find({ url, key: "given" }).catch((error: Error) => error.message);
    expect(refused).toContain(message);
    expect(refused).not.toContain("pass-word");
    await expect(find({ url: "http://localhost:8000", key: "two\nlines" })).rejects.toMatchObject({
      code: "bad_token",
    });
  });

  it("is not found where its process was killed", async () => {
    await noteLocalPlatform(directory, local);
    await writeFile(join(directory, localPlatformFile), JSON.stringify({ ...local, pid: 2 ** 22 + 1 }));
    expect(await findLocalPlatform(directory)).toBeUndefined();
  });
});
