import { createGzip, gzipSync } from "node:zlib";
import { array, assert, asyncProperty, integer, uint8Array } from "fast-check";
import { describe, expect, it } from "vitest";
import { gunzip } from "./gunzip.ts";

async function* pieces(bytes: Buffer, size: number): AsyncIterable<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size);
}

async function collect(source: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const all = [];
  for await (const piece of source) all.push(piece);
  return Buffer.concat(all);
}

describe("gunzip", () => {
  it("[R2.14] expands what was compressed, in one part or several, however it is cut", async () => {
    await assert(
      asyncProperty(
        array(uint8Array({ maxLength: 300 }), { minLength: 1, maxLength: 3 }),
        integer({ min: 1, max: 50 }),
        async (parts, size) => {
          const packed = Buffer.concat(parts.map((part) => gzipSync(part)));
          expect(await collect(gunzip(pieces(packed, size)))).toEqual(Buffer.concat(parts));
        },
      ),
      { numRuns: 30 },
    );
  });

  const packed = gzipSync(Buffer.from("x".repeat(10_000) + Math.random()));
  const corrupt = Buffer.from(packed);
  corrupt.writeUInt8((corrupt.at(-5) ?? 0) ^ 0xff, corrupt.length - 5);
  it.each([
    ["cut off", packed.subarray(0, -10)],
    ["corrupt", corrupt],
    ["no gzip", Buffer.from("not gzip at all")],
    ["empty", Buffer.alloc(0)],
  ])("[R2.15] refuses what is %s", async (_name, bytes) => {
    await expect(collect(gunzip(pieces(bytes, 100)))).rejects.toMatchObject({ kind: "invalid", code: "gzip_broken" });
  });

  it("[R2.15, S4.7] refuses a bomb before it is through", async () => {
    let taken = 0;
    async function* bomb() {
      const packer = createGzip();
      const zeros = Buffer.alloc(1024 * 1024);
      void (async () => {
        for (let written = 0; written < 500 && !packer.destroyed; written += 1) {
          if (!packer.write(zeros)) await new Promise((resolve) => void packer.once("drain", resolve));
        }
        packer.end();
      })();
      for await (const piece of packer as AsyncIterable<Buffer>) yield piece;
    }
    const reading = (async () => {
      for await (const piece of gunzip(bomb())) taken += piece.length;
    })();
    await expect(reading).rejects.toMatchObject({ code: "gzip_bomb" });
    expect(taken).toBeLessThan(5 * 1024 * 1024);
  });

  it("passes on what broke the stream before it", async () => {
    async function* breaking() {
      yield packed.subarray(0, 10);
      throw new Error("the client disconnected");
    }
    await expect(collect(gunzip(breaking()))).rejects.toThrow("the client disconnected");
  });
});
