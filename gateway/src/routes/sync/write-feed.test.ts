import type { ReadChangesResponse } from "@tessera/protos/gen/ticketing/checkin/v1/sync";
import { expect, it } from "vitest";
import { type FeedEnd, type ReadFeed, writeEvents, writeLines } from "./write-feed.ts";

const part = (cursor: string, { isComplete = false } = {}): ReadChangesResponse => ({
  ...{ cursor, lines: Buffer.from(`"${cursor}"\n`), isComplete, isTooOld: false },
});

/** A feed that has always more. */
function endless() {
  const waits: number[] = [];
  const read: ReadFeed = async (after, waitMs) => {
    waits.push(waitMs);
    return part(`${after}+`);
  };
  return { waits, read };
}

const never = new AbortController().signal;
const ends: readonly (readonly [string, FeedEnd])[] = [
  ["after its time", { until: 0, signal: never }],
  ["when the process stops", { until: Number.POSITIVE_INFINITY, signal: AbortSignal.abort() }],
];

async function written(texts: AsyncIterable<Buffer | string>): Promise<string> {
  let all = "";
  for await (const text of texts) all += text.toString();
  return all;
}

it.each(ends)("[F1.14] a copy ends %s behind the cursor of its part, and goes on there", async (_name, end) => {
  const { read, waits } = endless();
  expect(await written(writeLines(part("a"), read, end))).toBe('"a"\n{"kind":"cursor","cursor":"a"}\n');
  expect(waits).toEqual([]);
});

it.each(ends)("[F1.13, F1.14] events end %s", async (_name, end) => {
  const { read, waits } = endless();
  const events = writeEvents(part("a"), read, { ...end, waitMs: 25_000 });
  expect(await written(events)).toBe('retry: 1000\n\nid: a\ndata: "a"\n\n');
  expect(waits).toEqual([]);
});

it.each(["\u2028", "\u2029", "\u0085", "\\r", "\\n"])(
  "[F1.13] events have texts with %j as they are",
  async (separator) => {
    const lines = `{"name":"one${separator}two"}\n{"id":1}\n`;
    const end = { until: 0, signal: never, waitMs: 0 };
    const text = await written(writeEvents({ ...part("a"), lines: Buffer.from(lines) }, endless().read, end));
    const data = text.split("\n").filter((line) => line.startsWith("data: "));
    expect(data.map((line) => `${line.slice("data: ".length)}\n`).join("")).toBe(lines);
  },
);

it("[F1.14] events wait no longer for a change than they have time", async () => {
  const waits: number[] = [];
  const read: ReadFeed = async (_after, waitMs) => {
    waits.push(waitMs);
    stopping.abort();
    return part("b", { isComplete: true });
  };
  const stopping = new AbortController();
  const end = { until: performance.now() + 2000, signal: stopping.signal };
  await written(writeEvents(part("a", { isComplete: true }), read, { ...end, waitMs: 25_000 }));
  expect(waits).toEqual([expect.closeTo(2000, -3)]);
});

it("[F1.11] a copy whose cursor becomes too old ends behind the last cursor that was good", async () => {
  const read: ReadFeed = async () => ({ ...part(""), lines: Buffer.alloc(0), isTooOld: true });
  const end = { until: Number.POSITIVE_INFINITY, signal: never };
  expect(await written(writeLines(part("a"), read, end))).toBe('"a"\n{"kind":"cursor","cursor":"a"}\n');
});
