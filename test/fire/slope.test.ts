import { describe, expect, it } from "vitest";
import { growthOf } from "./slope.ts";

const series = (values: readonly number[]) => values.map((value, index) => ({ at: index * 100, value }));

describe("the growth of a measurement", () => {
  it("is what it gains over the time of its samples", () => {
    expect(growthOf(series([10, 12, 14, 16, 18]))).toBeCloseTo(8);
    expect(growthOf(series([18, 16, 14]))).toBeCloseTo(-4);
  });

  it("does not count a few peaks, and not what returns", () => {
    expect(growthOf(series([10, 10, 90, 10, 10, 10, 95, 10, 10]))).toBe(0);
    expect(Math.abs(growthOf(series([10, 30, 10, 30, 10, 30, 10, 30, 10])))).toBeLessThan(3);
  });

  it("is nothing of one sample", () => {
    expect([growthOf([]), growthOf(series([7]))]).toEqual([0, 0]);
  });
});
