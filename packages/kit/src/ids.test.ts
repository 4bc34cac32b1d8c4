import { describe, expect, it } from "vitest";
import { randomCode } from "./ids.ts";

/** Pearson's statistic of how far counts are from even. */
function chiSquared(counts: readonly number[]): number {
  const expected = counts.reduce((sum, count) => sum + count, 0) / counts.length;
  return counts.reduce((sum, count) => sum + (count - expected) ** 2 / expected, 0);
}

describe("randomCode", () => {
  // A byte modulo 62 would give eight letters a fourth more than the rest: a statistic near 1000 here.
  it.each(["ABCDEFGHJKLMNPQRSTUVWXYZ3789", "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz", "abc"])(
    "draws from %s evenly",
    (alphabet) => {
      const counts = new Map(Array.from(alphabet, (character) => [character, 0]));
      for (const character of randomCode(60_000, alphabet)) counts.set(character, (counts.get(character) ?? 0) + 1);
      expect(counts.size).toBe(alphabet.length);
      const freedom = alphabet.length - 1;
      // Seven standard deviations above the mean: wrong once in many billions of runs.
      expect(chiSquared([...counts.values()])).toBeLessThan(freedom + 7 * Math.sqrt(2 * freedom) + 12);
    },
  );

  it("counts code points, not halves of them", () => {
    const code = randomCode(50, "🎪🎟🎭");
    expect(Array.from(code)).toHaveLength(50);
    expect(code.isWellFormed()).toBe(true);
  });

  it("may be empty", () => {
    expect(randomCode(0, "ab")).toBe("");
  });

  it.each([
    [5, ""],
    [5, "a"],
    [5, "aba"],
    [-1, "ab"],
    [1.5, "ab"],
    [Number.POSITIVE_INFINITY, "ab"],
  ])("refuses %s characters of %j", (length, alphabet) => {
    expect(() => randomCode(length, alphabet)).toThrow(RangeError);
  });
});
