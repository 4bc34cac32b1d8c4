import { PDFDocument } from "@cantoo/pdf-lib";
import { ThreadFailure } from "@tessera/kit/threads/thread";
import { isCollected } from "@tessera/testkit/collect-garbage";
import { expect, it, vi } from "vitest";
import { fault } from "../faults.ts";
import { openBackgroundCache } from "./background-cache.ts";
import { openFlattener } from "./flatten-in-thread.ts";

it("[L56.4] an organizer has a few backgrounds read at a time, and keeps no other from its own", async () => {
  const cache = openBackgroundCache();
  const document = await PDFDocument.create();
  document.addPage();
  const bytes = await document.save();
  const gate = Promise.withResolvers<Uint8Array>();
  let reading = 0;
  const slow = () => {
    reading += 1;
    return gate.promise;
  };
  const ofOne = Array.from({ length: 10 }, (_, index) => cache.prepare({ id: `slow ${index}`, bytes: slow }, "one"));
  expect((await cache.prepare({ id: "quick", bytes }, "other")).pages).toHaveLength(1);
  expect(reading).toBe(4);
  gate.resolve(bytes);
  expect(await Promise.all(ofOne)).toHaveLength(10);
});

it("[L56.2] a background that a busy machine was too slow for is tried again later, and not at once", async () => {
  const document = await PDFDocument.create();
  document.addPage();
  const bytes = await document.save();
  const cause = new ThreadFailure(new URL("file:///flatten-program.ts"), "too slow");
  const slow = () => Promise.reject(fault("background_unusable", "The background cannot be read.", { cause }));
  const usual = openFlattener();
  let tries = 0;
  const cache = openBackgroundCache({
    flatten: (file, party) => {
      tries += 1;
      return tries === 1 ? slow() : usual(file, party);
    },
    slowMs: 500,
  });
  const prepare = () => cache.prepare({ id: "large", bytes }, "one");
  const failed = { kind: "unavailable", code: "background_overloaded" };
  await expect(prepare()).rejects.toMatchObject(failed);
  await expect(prepare()).rejects.toMatchObject(failed);
  expect(tries).toBe(1);
  await expect.poll(async () => (await prepare()).pages).toHaveLength(1);
  expect(tries).toBe(2);
});

it("a background stays prepared while others are used, and is given up when none was for a while", async () => {
  const document = await PDFDocument.create();
  document.addPage();
  const bytes = await document.save();
  const flatten = vi.fn(openFlattener());
  const idleMs = 3000;
  const cache = openBackgroundCache({ flatten, idleMs });
  const prepare = (id: string) => cache.prepare({ id, bytes }, "one");
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  try {
    const prepared = new WeakRef(await prepare("first"));
    for (let times = 0; times < 4; times += 1) {
      await prepare("other");
      vi.advanceTimersByTime(idleMs - 1);
    }
    await prepare("first");
    expect(flatten).toHaveBeenCalledTimes(2);
    vi.advanceTimersByTime(idleMs);
    await expect.poll(() => isCollected(prepared), { interval: 100 }).toBe(true);
    await prepare("first");
    expect(flatten).toHaveBeenCalledTimes(3);
  } finally {
    vi.useRealTimers();
  }
});
