import { createHash } from "node:crypto";
import { buffer } from "node:stream/consumers";
import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import type { ByteRange, Files, FoundFile, StoredFile } from "@tessera/kit/files/files";
import { afterEach, describe, expect, it } from "vitest";

export interface FilesUnderTest {
  /** Empty. */
  readonly files: Files;
  close(): Promise<void>;
}

const text = { contentType: "text/plain" };
const megabyte = 1024 * 1024;

/** Content of any length that does not repeat itself. */
export async function* chunksOf(bytes: number, { chunkBytes = 64 * 1024, seed = 1 } = {}): AsyncGenerator<Buffer> {
  let state = seed;
  for (let left = bytes; left > 0; left -= chunkBytes) {
    const chunk = Buffer.alloc(Math.min(left, chunkBytes));
    // Each chunk has a step of its own, which shows chunks that were swapped, lost or doubled.
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    chunk.fill(Buffer.from(Uint32Array.of(state, state ^ 0x5a5a5a5a, state >>> 3).buffer));
    yield chunk;
  }
}

/** The bytes of `chunksOf`, at once. */
export async function bytesOf(...args: Parameters<typeof chunksOf>): Promise<Buffer> {
  return Buffer.concat(await collect(chunksOf(...args)));
}

/** Reads to the end. */
export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

/** Begins to put content, which stops before its end until it is released. `ended` never rejects. */
export async function beginPut(files: Files, key: string, begin: AsyncIterable<Uint8Array> = halves.begin()) {
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const begun = Promise.withResolvers<void>();
  async function* content() {
    yield* begin;
    begun.resolve();
    await released;
    yield* halves.end();
  }
  const ended = files.put(key, content(), text).catch((error: unknown) => error);
  await Promise.race([begun.promise, ended]);
  return { key, ended, release };
}

const halves = { begin: () => chunksOf(4), end: () => chunksOf(4) };

/** Gets a file that must be there. */
export async function getFile(files: Files, key: string, range?: ByteRange): Promise<FoundFile> {
  const found = await files.get(key, range);
  if (found === undefined) throw new Error(`there is no file ${key}`);
  return found;
}

async function* failingAfter(bytes: number, error: Error): AsyncGenerator<Buffer> {
  yield* chunksOf(bytes);
  throw error;
}

const sha256 = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function contentOf(files: Files, key: string): Promise<string | undefined> {
  const found = await files.get(key);
  return found === undefined ? undefined : (await buffer(found.content)).toString();
}

const keysOf = async (files: Files, prefix = "") => (await collect(files.list(prefix))).map(({ key }) => key);

/** Tests the promises of the port for any store. */
export function filesContract(name: string, makeFiles: () => Promise<FilesUnderTest>): void {
  describe(`the files contract: ${name}`, { timeout: 60_000 }, () => {
    const made: FilesUnderTest[] = [];
    afterEach(async () => {
      await Promise.all(made.splice(0).map((under) => under.close()));
    });
    async function fresh(): Promise<Files> {
      const under = await makeFiles();
      made.push(under);
      return under.files;
    }

    describe("what was put", () => {
      it.each([
        ["nothing", 0],
        ["a byte", 1],
        ["some text", 1000],
        ["more than one part", 9 * megabyte],
        ["exactly two parts", 16 * megabyte],
      ])("is found as it was: %s", async (_name, size) => {
        const files = await fresh();
        const bytes = await bytesOf(size);
        const began = Date.now() * 1000;
        for (const [key, content] of [
          ["a/bytes", new Uint8Array(bytes)],
          ["a/stream", chunksOf(size)],
        ] as const) {
          const put = await files.put(key, content, { contentType: "application/pdf; charset=utf-8" });
          expect(put).toEqual({ size, sha256: sha256(bytes) });
          const { content: stream, ...found } = await getFile(files, key);
          expect(sha256(await buffer(stream))).toBe(put.sha256);
          expect(sha256((await files.read(key, size)) ?? Buffer.from("none"))).toBe(put.sha256);
          expect(found).toEqual({
            key,
            size,
            storedAt: found.storedAt,
            contentType: "application/pdf; charset=utf-8",
          });
          expect(Number.isSafeInteger(found.storedAt)).toBe(true);
          // Some stores have whole seconds.
          expect(found.storedAt).toBeGreaterThan(began - 2_000_000);
          expect(found.storedAt).toBeLessThan(Date.now() * 1000 + 2_000_000);
        }
      });

      it("may come in chunks of any size, also empty ones", async () => {
        const files = await fresh();
        async function* pieces() {
          for (const piece of ["", "a", "", "bc", new Uint8Array(0), "d".repeat(100_000), ""])
            yield typeof piece === "string" ? Buffer.from(piece) : piece;
        }
        await files.put("a", pieces(), text);
        expect(await contentOf(files, "a")).toBe(`abc${"d".repeat(100_000)}`);
      });

      it("is replaced by a later put; a reader of the earlier content can read it to its end", async () => {
        const files = await fresh();
        await files.put("a", await bytesOf(4 * megabyte), text);
        const reading = await getFile(files, "a");
        await files.put("a", Buffer.from("new"), { contentType: "image/png" });
        expect(sha256(await buffer(reading.content))).toBe(sha256(await bytesOf(4 * megabyte)));
        const { contentType, size } = letGo(await getFile(files, "a"));
        expect([contentType, size, await contentOf(files, "a")]).toEqual(["image/png", 3, "new"]);
      });

      it("needs no more memory for longer content", async () => {
        const files = await fresh();
        const size = 200 * megabyte;
        await files.put("warm", chunksOf(20 * megabyte), text);
        const before = process.memoryUsage().rss;
        let most = 0;
        const hash = createHash("sha256");
        async function* watched() {
          for await (const chunk of chunksOf(size)) {
            most = Math.max(most, process.memoryUsage().rss);
            hash.update(chunk);
            yield chunk;
          }
        }
        const put = await files.put("long", watched(), text);
        expect(put).toEqual({ size, sha256: hash.digest("hex") });
        const found = await getFile(files, "long");
        const back = createHash("sha256");
        for await (const chunk of found.content) {
          most = Math.max(most, process.memoryUsage().rss);
          back.update(chunk as Buffer);
        }
        expect(back.digest("hex")).toBe(put.sha256);
        expect((most - before) / megabyte).toBeLessThan(150);
      });
    });

    describe("a source that fails", () => {
      it.each([
        ["at once", 0],
        ["early", 100_000],
        ["after parts were stored", 20 * megabyte],
      ])("leaves nothing: %s", async (_name, size) => {
        const files = await fresh();
        const error = new Error("the source has failed");
        await expect(files.put("a/b", failingAfter(size, error), text)).rejects.toBe(error);
        expect(await files.get("a/b")).toBeUndefined();
        expect(await keysOf(files)).toEqual([]);
        await files.put("a/b", Buffer.from("earlier"), text);
        await expect(files.put("a/b", failingAfter(size, error), text)).rejects.toBe(error);
        expect(await contentOf(files, "a/b")).toBe("earlier");
      });
    });

    it("never shows a part of content that many put at one key at once", async () => {
      const files = await fresh();
      const size = 6 * megabyte;
      const seeds = [1, 2, 3, 4, 5, 6];
      const whole = new Map<string, number>();
      for (const seed of seeds) whole.set(sha256(await bytesOf(size + seed, { seed })), size + seed);
      let going = true;
      const seen = new Set<string>();
      const reader = async () => {
        while (going) {
          const found = await files.get("a");
          if (found !== undefined) {
            const bytes = await buffer(found.content);
            expect(found.size).toBe(whole.get(sha256(bytes)));
            seen.add(sha256(bytes));
          }
          await sleep(5);
        }
      };
      const readers = [reader(), reader()];
      for (let round = 0; round < 2; round += 1)
        await Promise.all(seeds.map((seed) => files.put("a", chunksOf(size + seed, { seed }), text)));
      going = false;
      await Promise.all(readers);
      expect(seen.size).toBeGreaterThan(0);
      expect(await keysOf(files)).toEqual(["a"]);
    });

    describe("keys", () => {
      const odd = [
        "A",
        "a",
        "a b",
        "a+b",
        "a%2Fb",
        "a%00",
        "a&b=c?d#e",
        "..a",
        "...",
        "a..",
        ".hidden",
        "-",
        "~",
        "..\\..\\windows",
        " ",
        "a ",
        'quo"te',
        "<xml>&amp;",
        "c:",
        "con",
        "ü", // composed
        "u\u0308", // decomposed
        "ß",
        "🎟/🎫/票",
        "\u202eright-to-left",
        "dir/a",
        "dir/b/c",
        "dir.x",
        "dir-x",
        "s".repeat(80),
        Array.from({ length: 6 }, (_, index) => String(index).repeat(80)).join("/"),
        `e/${"🎟".repeat(20)}`,
      ];

      it("may be any path, and each is a different file", async () => {
        const files = await fresh();
        for (const key of odd) await files.put(key, Buffer.from(`content of ${key}`), text);
        for (const key of odd) expect(await contentOf(files, key)).toBe(`content of ${key}`);
        const sorted = odd.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
        expect(await keysOf(files)).toEqual(sorted);
        await files.remove(odd.slice(0, 10));
        expect(await keysOf(files)).toEqual(sorted.filter((key) => !odd.slice(0, 10).includes(key)));
      });

      it.each([
        "",
        "/",
        "/etc/passwd",
        "a/",
        "a//b",
        ".",
        "..",
        "../a",
        "a/../b",
        "a/..",
        "./a",
        "a\u0000b",
        "a\nb",
        "\u007f",
        "\u0085",
        "\ud800",
        "\uffff",
        "s".repeat(81),
        "🎟".repeat(21),
        Array.from({ length: 8 }, () => "s".repeat(70)).join("/"),
      ])("are refused that could lead elsewhere: %j", async (key) => {
        const files = await fresh();
        const refused = { kind: "invalid", code: "file_key_invalid" };
        await expect(files.put(key, Buffer.from("x"), text)).rejects.toMatchObject(refused);
        await expect(files.get(key)).rejects.toMatchObject(refused);
        await expect(files.remove(["fine", key])).rejects.toMatchObject(refused);
        await expect(files.removeUnfinished(["fine", key])).rejects.toMatchObject(refused);
        expect(await keysOf(files, key.slice(0, 3) === "" ? "\u0000" : key)).toEqual([]);
      });

      it.each(["", "text", "text/plain\r\nx: y", "text/plain; a=\u00fc", `text/${"x".repeat(200)}`])(
        "have a content type that is one: %j",
        async (contentType) => {
          const files = await fresh();
          await expect(files.put("a", Buffer.from("x"), { contentType })).rejects.toBeInstanceOf(Fault);
          expect(await files.get("a")).toBeUndefined();
        },
      );
    });

    describe("ranges", () => {
      it("have the meaning of HTTP", async () => {
        const files = await fresh();
        await files.put("a", Buffer.from("0123456789"), text);
        for (const [first, last, expected] of [
          [0, 0, "0"],
          [0, 3, "0123"],
          [4, 6, "456"],
          [9, 9, "9"],
          [7, undefined, "789"],
          [0, undefined, "0123456789"],
          [5, 1000, "56789"],
        ] as const) {
          const found = await getFile(files, "a", last === undefined ? { first } : { first, last });
          expect([found.size, (await buffer(found.content)).toString()]).toEqual([10, expected]);
        }
        expect(await files.get("b", { first: 0 })).toBeUndefined();
      });

      it("are refused when the file has no byte of them", async () => {
        const files = await fresh();
        await files.put("a", Buffer.from("0123456789"), text);
        await files.put("empty", Buffer.alloc(0), text);
        const refused = { kind: "invalid", code: "range_outside_file" };
        for (const range of [
          { first: 10 },
          { first: 11, last: 12 },
          { first: 3, last: 2 },
          { first: -1 },
          { first: 0.5 },
        ])
          await expect(files.get("a", range)).rejects.toMatchObject(refused);
        await expect(files.get("empty", { first: 0 })).rejects.toMatchObject(refused);
      });

      it("reach across parts", async () => {
        const files = await fresh();
        const bytes = await bytesOf(20 * megabyte);
        await files.put("a", chunksOf(20 * megabyte), text);
        const [first, last] = [8 * megabyte - 5, 16 * megabyte + 5];
        const found = await getFile(files, "a", { first, last });
        expect(sha256(await buffer(found.content))).toBe(sha256(bytes.subarray(first, last + 1)));
      });
    });

    describe("lists", () => {
      it("have the keys with the prefix, wherever the prefix ends", async () => {
        const files = await fresh();
        for (const key of ["a/b/c", "a/bc", "a/b.c", "ab", "b", "a/b-/x"]) await files.put(key, Buffer.from(key), text);
        expect(await keysOf(files, "a/b")).toEqual(["a/b-/x", "a/b.c", "a/b/c", "a/bc"]);
        expect(await keysOf(files, "a/b/")).toEqual(["a/b/c"]);
        expect(await keysOf(files, "a")).toEqual(["a/b-/x", "a/b.c", "a/b/c", "a/bc", "ab"]);
        expect(await keysOf(files, "a/b/c")).toEqual(["a/b/c"]);
        expect(await keysOf(files, "x")).toEqual([]);
        expect(await keysOf(files, "../")).toEqual([]);
        const [first] = await collect(files.list("a/b."));
        expect(first).toEqual({ key: "a/b.c", size: 5, storedAt: first?.storedAt } as StoredFile);
      });

      it("are complete at any length, and may be left early; removes may be long too", async () => {
        const files = await fresh();
        const keys = Array.from({ length: 2100 }, (_, index) => `many/${String(index).padStart(4, "0")}`);
        for (let done = 0; done < keys.length; done += 100)
          await Promise.all(keys.slice(done, done + 100).map((key) => files.put(key, Buffer.from("x"), text)));
        expect(await keysOf(files, "many/")).toEqual(keys);
        for await (const { key } of files.list("many/")) if (key === "many/0003") break;
        await files.remove([...keys.slice(0, 2050), "missing", "many/0000", "many/0000"]);
        expect(await keysOf(files)).toEqual(keys.slice(2050));
        await files.remove([]);
      });
    });

    describe("a put that has not ended", () => {
      async function begin(files: Files, key: string) {
        const put = await beginPut(files, key, chunksOf(20 * megabyte));
        // Parts may still be on their way to the store.
        await expect.poll(() => unfinished(files, key), { timeout: 30_000 }).toEqual([key]);
        return put;
      }
      const unfinished = async (files: Files, prefix = "") =>
        (await collect(files.listUnfinished(prefix))).filter(({ size }) => size > 0).map(({ key }) => key);

      it("is in a list of its own until it ends, with the time of its last bytes", async () => {
        const files = await fresh();
        const put = await begin(files, "a/b");
        expect([await keysOf(files), await files.get("a/b")]).toEqual([[], undefined]);
        expect([await unfinished(files, "a/"), await unfinished(files, "b")]).toEqual([["a/b"], []]);
        const [found] = await collect(files.listUnfinished("a/b"));
        expect(Math.abs(Date.now() * 1000 - (found?.storedAt ?? 0))).toBeLessThan(60_000_000);
        put.release();
        expect(await put.ended).toMatchObject({ size: 20 * megabyte + 4 });
        expect([await keysOf(files), await unfinished(files)]).toEqual([["a/b"], []]);
      });

      it("fails if what it has stored is removed: nothing is left, and no other put and no file is touched", async () => {
        const files = await fresh();
        await files.put("a/b", Buffer.from("earlier"), text);
        const [one, other, longer] = [
          await begin(files, "a/b"),
          await begin(files, "a/c"),
          await begin(files, "a/bc"),
        ] as const;
        await files.removeUnfinished(["a/b", "a/c", "a/unknown", "b"]);
        expect(await unfinished(files)).toEqual(["a/bc"]);
        for (const { release } of [one, other, longer]) release();
        for (const { ended } of [one, other])
          expect(await ended).toMatchObject({
            kind: "unavailable",
            code: "files_unavailable",
            message: expect.stringContaining("send it again") as unknown,
          });
        expect(await longer.ended).toMatchObject({ size: 20 * megabyte + 4 });
        expect([await contentOf(files, "a/b"), await keysOf(files)]).toEqual(["earlier", ["a/b", "a/bc"]]);
        expect(await collect(files.listUnfinished(""))).toEqual([]);
      });
    });

    it("has no file without a put", async () => {
      const files = await fresh();
      expect(await files.get("a")).toBeUndefined();
      expect(await keysOf(files)).toEqual([]);
      await files.remove(["a", "b/c"]);
      await files.put("b/c/d", Buffer.from("x"), text);
      expect(await files.get("b")).toBeUndefined();
      expect(await files.get("b/c")).toBeUndefined();
      expect(await files.get("b/c/d/e")).toBeUndefined();
      for (const none of ["a", "b", "b/c", "b/c/d/e"]) expect(await files.read(none, 1)).toBeUndefined();
      await files.remove(["b", "b/c", "b/c/d/e"]);
      expect(await keysOf(files)).toEqual(["b/c/d"]);
    });

    it("releases content that is not read to its end", async () => {
      const files = await fresh();
      await files.put("a", await bytesOf(8 * megabyte), text);
      for (let times = 0; times < 200; times += 1) letGo(await getFile(files, "a"));
      for (let times = 0; times < 20; times += 1) {
        const found = await getFile(files, "a");
        for await (const _chunk of found.content) break;
      }
      expect((await buffer((await getFile(files, "a")).content)).length).toBe(8 * megabyte);
    });
  });
}

function letGo(found: FoundFile): FoundFile {
  found.content.destroy();
  return found;
}
