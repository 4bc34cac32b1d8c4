import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { collect, filesContract, getFile } from "@tessera/testkit/files-contract";
import { afterEach, describe, expect, it } from "vitest";
import { diskFiles } from "./disk.ts";

const folders: string[] = [];
async function freshFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "tessera-files-"));
  folders.push(folder);
  return folder;
}
afterEach(async () => {
  for (const folder of folders.splice(0)) await rm(folder, { recursive: true, force: true });
});

filesContract("disk", async () => {
  // Not there yet.
  const files = diskFiles({ directory: join(await freshFolder(), "new", "files") });
  return { files, close: () => files.close() };
});

const text = { contentType: "text/plain" };

describe("a folder of files", () => {
  it("has names that every file system keeps apart", async () => {
    const directory = await freshFolder();
    const files = diskFiles({ directory });
    for (const key of ["A/Ü.pdf", "a/ü.pdf", ".x/y", "z+"]) await files.put(key, Buffer.from("x"), text);
    const names = (await readdir(join(directory, "content"), { recursive: true })).toSorted();
    expect(names).toEqual(["%2ex+", "%2ex+/y", "%41+", "%41+/%c3%9c.pdf", "a+", "a+/%c3%bc.pdf", "z%2b"]);
  });

  it("is tidy: folders go with their last file", async () => {
    const directory = await freshFolder();
    const files = diskFiles({ directory });
    await files.put("a/b/c", Buffer.from("x"), text);
    await files.put("a/d", Buffer.from("x"), text);
    await files.remove(["a/b/c"]);
    expect(await readdir(join(directory, "content"), { recursive: true })).toEqual(["a+", "a+/d"]);
    await files.remove(["a/d"]);
    expect(await readdir(join(directory, "content"))).toEqual([]);
  });

  it("loses no file to those who remove its neighbours", async () => {
    const files = diskFiles({ directory: await freshFolder() });
    await Promise.all(
      Array.from({ length: 8 }, async (_, worker) => {
        for (let round = 0; round < 40; round += 1) {
          const key = `a/b/c/${worker}`;
          await files.put(key, Buffer.from("x"), text);
          expect(await files.get(key).then((found) => found?.content.destroy() !== undefined)).toBe(true);
          await files.remove([key]);
        }
      }),
    );
  });

  it("shows neither what it did not write nor what links lead to", async () => {
    const directory = await freshFolder();
    const files = diskFiles({ directory });
    await files.put("a", Buffer.from("x"), text);
    const content = join(directory, "content");
    await writeFile(join(content, "short"), "x");
    await writeFile(join(content, "NotOurs"), "x".repeat(1000));
    await writeFile(join(content, "lost+found"), "x".repeat(1000));
    await symlink("/etc/passwd", join(content, "link"));
    await symlink("/etc", join(content, "etc+"));
    await writeFile(join(content, "a~0123456789"), "x".repeat(1000));
    expect((await collect(files.list(""))).map(({ key }) => key)).toEqual(["a"]);
    expect(await collect(files.listUnfinished(""))).toEqual([]);
    for (const key of ["short", "link"]) expect(await files.get(key)).toBeUndefined();
  });

  it.each([
    ["is gone", (directory: string) => rm(directory, { recursive: true })],
    ["is an empty mount point", (directory: string) => rm(join(directory, "content"), { recursive: true })],
    ["is a file", (directory: string) => rm(directory, { recursive: true }).then(() => writeFile(directory, ""))],
  ])("that %s has lost its volume, not its files: no answer says that they were deleted", async (_name, lose) => {
    const directory = join(await freshFolder(), "files");
    await diskFiles({ directory }).put("a", Buffer.from("x"), text);
    const files = diskFiles({ directory });
    await lose(directory);
    const gone = { kind: "unavailable", code: "files_unavailable", message: expect.stringContaining("is gone") };
    await expect(files.get("a")).rejects.toMatchObject(gone);
    await expect(files.read("a", 1)).rejects.toMatchObject(gone);
    await expect(files.remove(["a"])).rejects.toMatchObject(gone);
    await expect(collect(files.list(""))).rejects.toMatchObject(gone);
    await expect(collect(files.listUnfinished(""))).rejects.toMatchObject(gone);
    await expect(files.removeUnfinished(["a"])).rejects.toMatchObject(gone);
    await expect(files.put("b", Buffer.from("x"), text)).rejects.toMatchObject(gone);
    await rm(directory, { recursive: true, force: true });
    await diskFiles({ directory }).put("b", Buffer.from("x"), text);
    expect(await files.get("a")).toBeUndefined();
    expect((await collect(files.list(""))).map(({ key }) => key)).toEqual(["b"]);
  });

  it("says what is wrong where it cannot be", async () => {
    const directory = join(await freshFolder(), "file");
    await writeFile(directory, "in the way");
    await expect(diskFiles({ directory }).put("a", Buffer.from("x"), text)).rejects.toMatchObject({
      kind: "unavailable",
      code: "files_unavailable",
      message: expect.stringMatching("the folder for files cannot be used"),
    });
  });
});

/** Puts without end at one key, whole contents of one letter each, and slowly enough to be met in the middle. */
const program = `
  import { diskFiles } from ${JSON.stringify(new URL("disk.ts", import.meta.url).href)};
  const files = diskFiles({ directory: process.argv[1] });
  async function* slowly(letter) {
    for (let part = 0; part < 20; part += 1) {
      yield Buffer.alloc(50_000, letter);
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  }
  for (let round = 0; ; round += 1) {
    await files.put("a/b", slowly("abcdefgh"[round % 8]), { contentType: "text/plain" });
    process.stdout.write(".");
  }`;

describe("a process that is killed while it puts", () => {
  async function killedAfter(directory: string, ms: number): Promise<void> {
    const child = spawn(process.execPath, ["--conditions=source", "--input-type=module", "-e", program, directory], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    await sleep(ms);
    child.kill("SIGKILL");
    await once(child, "exit");
  }

  it("leaves the earlier file, whole, and what it had begun is found by its key", async () => {
    const directory = await freshFolder();
    let interrupted = 0;
    for (const ms of [3, 17, 29]) {
      await killedAfter(directory, ms);
      const files = diskFiles({ directory });
      const unfinished = await collect(files.listUnfinished("a/"));
      expect(unfinished.filter(({ key }) => key !== "a/b")).toEqual([]);
      interrupted += unfinished.length;
      const found = await getFile(files, "a/b");
      const content = await buffer(found.content);
      expect(content).toHaveLength(1_000_000);
      expect(new Set(content).size).toBe(1);
      expect((await collect(files.list(""))).map(({ key, size }) => [key, size])).toEqual([["a/b", 1_000_000]]);
      await files.removeUnfinished(["a/b"]);
      expect(await readdir(join(directory, "content", "a+"))).toEqual(["b"]);
    }
    // Most of the time goes into writing: it would be strange never to meet it there.
    expect(interrupted).toBeGreaterThan(0);
  });
});
