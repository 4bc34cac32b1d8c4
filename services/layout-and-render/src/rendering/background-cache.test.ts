import { PDFDocument } from "@cantoo/pdf-lib";
import { expect, it } from "vitest";
import { openBackgroundCache } from "./background-cache.ts";

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
