import { longestTurn } from "@tessera/testkit/longest-turn";
import { afterAll, expect, it } from "vitest";
import { encodeSymbol } from "../domain/code-symbol.ts";
import { aCode } from "../testing/elements.ts";
import { openTestRenderer } from "../testing/renderer.ts";

const renderer = openTestRenderer();
afterAll(() => renderer.close());

it("[L30.9] a ticket with many codes that take long to encode keeps nothing else waiting", async () => {
  const count = 60;
  const values = Array.from({ length: count }, (_, index) => `${index} `.padEnd(150, "aB3!"));
  const encode = async () => {
    for (const value of values.slice(0, count / 4)) encodeSymbol("aztec", value);
  };
  const quarterMs = await longestTurn(encode, { tries: 2 });
  const codes = values.map((value) => aCode(value, { symbology: "aztec", size: 10 }));
  expect(await longestTurn(() => renderer.renderElements(codes), { enoughMs: quarterMs })).toBeLessThan(quarterMs);
});
