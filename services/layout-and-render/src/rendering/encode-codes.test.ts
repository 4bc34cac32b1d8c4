import { setImmediate as turnOfLoop } from "node:timers/promises";
import { afterAll, expect, it } from "vitest";
import { encodeSymbol } from "../domain/code-symbol.ts";
import { aCode } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

it("[L30.9] a ticket with many codes that take long to encode keeps nothing else waiting", async () => {
  const count = 60;
  const values = Array.from({ length: count }, (_, index) => `${index} `.padEnd(150, "aB3!"));
  // Warm-up.
  for (const value of values.slice(0, 5)) encodeSymbol("aztec", value);
  const begun = performance.now();
  for (const value of values.slice(5, 10)) encodeSymbol("aztec", value);
  const encoding = ((performance.now() - begun) / 5) * count;

  const codes = values.map((value) => aCode(value, { symbology: "aztec", size: 10 }));
  let isDone = false;
  const rendered = renderer.renderElements(codes).finally(() => {
    isDone = true;
  });
  let [longest, last] = [0, performance.now()];
  while (!isDone) {
    await turnOfLoop();
    const now = performance.now();
    [longest, last] = [Math.max(longest, now - last), now];
  }
  await rendered;
  expect(longest).toBeLessThan(encoding / 4);
});
