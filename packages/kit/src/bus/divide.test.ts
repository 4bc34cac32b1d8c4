import { describe, expect, it } from "vitest";
import type { Delivery } from "./bus.ts";
import { divide } from "./divide.ts";
import { header } from "./headers.ts";

/** Writes a fact as its key and number, `a1`, and a marker as `!`. */
const message = (text: string): Delivery => ({
  topic: "t",
  partition: 0,
  key: text.slice(0, 1),
  value: Buffer.from(text),
  headers: text === "!" ? { [header.marker]: "m" } : {},
});

const divided = (texts: readonly string[]) =>
  divide(texts.map(message)).map((parts) => parts.map((part) => part.map(({ value }) => String(value)).join(" ")));

describe("dividing messages", () => {
  it("gives keys to parts that may be acted on at the same time", () => {
    expect(divided(["a1", "b1", "a2"])).toEqual([["a1 a2", "b1"]]);
    expect(divided([..."abcdefghij"].map((key) => `${key}1`))).toEqual([["a1 b1", "c1 d1", "e1 f1", "g1 h1", "i1 j1"]]);
  });

  it("keeps the messages of a key in order, one part after the other", () => {
    expect(divided(["a1", "a2", "a3"])).toEqual([["a1"], ["a2"], ["a3"]]);
    expect(divided(Array.from({ length: 10 }, (_, at) => `a${at}`))).toEqual(
      [0, 2, 4, 6, 8].map((at) => [`a${at} a${at + 1}`]),
    );
  });

  it("keeps markers between what comes before and behind them", () => {
    expect(divided(["a1", "b1", "!", "!", "a2"])).toEqual([["a1", "b1"], ["!"], ["!"], ["a2"]]);
  });

  it("makes every part smaller, whatever it is given", () => {
    for (let round = 0; round < 500; round += 1) {
      const length = 2 + Math.floor(Math.random() * 40);
      const texts = Array.from({ length }, (_, at) =>
        Math.random() < 0.1 ? "!" : `${"abcdefghijklm"[Math.floor(Math.random() ** 3 * 13)]}${at}`,
      );
      const steps = divide(texts.map(message));
      const parts = steps.flat();
      for (const part of parts) expect(part.length).toBeLessThan(length);
      const all = parts.flat().map(({ value }) => String(value));
      expect(all.toSorted()).toEqual(texts.toSorted());
      for (const key of "abcdefghijklm") {
        const ofKey = (list: readonly string[]) => list.filter((text) => text.startsWith(key));
        expect(ofKey(all)).toEqual(ofKey(texts));
      }
      for (const step of steps) {
        const keys = step.map((part) => new Set(part.map(({ key }) => key)));
        expect(keys.reduce((sum, { size }) => sum + size, 0)).toBe(new Set(keys.flatMap((each) => [...each])).size);
      }
    }
  });
});
