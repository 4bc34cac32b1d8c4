import { expect, it } from "vitest";
import { backoff } from "./backoff.ts";

it("doubles the pause after each failure, up to the longest", () => {
  const pauses = [1, 2, 3, 4, 5, 5000].map((failures) => backoff({ firstMs: 100, longestMs: 500 }, failures));
  expect(pauses).toEqual([100, 200, 400, 500, 500, 500]);
});

it("grows by another factor, and without an end, where it is told to", () => {
  expect([1, 2, 3, 13].map((failures) => backoff({ firstMs: 4, factor: 1.5 }, failures))).toEqual([
    4,
    6,
    9,
    4 * 1.5 ** 12,
  ]);
});
