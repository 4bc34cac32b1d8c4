import { deflateSync } from "node:zlib";
import { PDFDocument, PDFName, PDFRawStream } from "@cantoo/pdf-lib";
import { expect, it } from "vitest";
import { openFlattener } from "./flatten-in-thread.ts";

const unusable = { kind: "unmet", code: "background_unusable" };

/** A page with these streams as its content. */
async function withContents(...packed: readonly Buffer[]): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const { context } = document;
  const page = document.addPage();
  const streams = packed.map((content) => {
    const dict = context.obj({ Filter: "FlateDecode", Length: content.length });
    return context.register(PDFRawStream.of(dict, content));
  });
  page.node.set(PDFName.of("Contents"), context.obj(streams));
  return document.save();
}

/** A page that refers to so many objects. */
async function withObjects(count: number): Promise<Uint8Array> {
  const document = await PDFDocument.create();
  const { context } = document;
  const objects = Array.from({ length: count }, (_, value) => context.register(context.obj({ A: value })));
  const page = document.addPage();
  page.drawText("x");
  page.node.set(PDFName.of("Resources"), context.obj({ X: objects }));
  return document.save({ useObjectStreams: false });
}

it("[L56.1] a background that unpacks to much more than it has, or has too many objects, is one that cannot be read", async () => {
  const prepare = openFlattener();
  const bomb = deflateSync(Buffer.alloc(100_000_000, " "));
  await expect(prepare(await withContents(bomb, bomb), "one")).rejects.toMatchObject(unusable);
  await expect(prepare(await withObjects(32_000), "one")).rejects.toMatchObject(unusable);
  // The next one is served.
  const small = deflateSync(Buffer.from("0 0 9 9 re f"));
  expect((await prepare(await withContents(small, small), "one")).pages).toHaveLength(1);
});

it("[L56.2] a background that takes too long is given up, and stops nothing else meanwhile", async () => {
  const prepare = openFlattener({ maxMs: 300, maxHeap: 160, idleMs: 60_000, threads: 2 });
  const small = await withContents(deflateSync(Buffer.from("0 0 9 9 re f")));
  // Warms up both threads: the first file of a thread takes longer.
  const begin = () => Promise.allSettled(["one", "other"].map((party) => prepare(small, party)));
  await expect.poll(async () => (await begin()).every(({ status }) => status === "fulfilled")).toBe(true);
  const ended: string[] = [];
  const slow = prepare(await withObjects(28_000), "one").finally(() => void ended.push("slow"));
  const other = prepare(small, "other").finally(() => void ended.push("other"));
  await expect(slow).rejects.toMatchObject(unusable);
  expect((await other).pages).toHaveLength(1);
  expect(ended).toEqual(["other", "slow"]);
});

it("[L56.3] backgrounds of one organizer that take long hold up none of another", async () => {
  const prepare = openFlattener();
  const slow = await withObjects(6000);
  const ended: string[] = [];
  const note = (party: string) => () => void ended.push(party);
  const ofOne = Array.from({ length: 2 }, () => prepare(slow, "one").then(note("one")));
  const other = prepare(await withContents(deflateSync(Buffer.from("0 0 9 9 re f"))), "other").then(note("other"));
  await Promise.all([...ofOne, other]);
  expect(ended.indexOf("other")).toBeLessThan(2);
});
