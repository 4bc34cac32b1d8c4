import { describe, expect, it } from "vitest";
import { planChunks } from "./plan-chunks.ts";

describe("the chunks of a file", () => {
  it.each([
    ["a few tickets are divided among the tabs, unless that is not worth it", 70, [35, 35]],
    ["very few", 3, [10, 10]],
    ["as many as fit into a chunk of each tab", 200, [100, 100]],
    ["a thousand", 1000, [33, 67, ...Array<number>(8).fill(100), 50, 50]],
    ["one more", 1001, [33, 67, ...Array<number>(9).fill(100), 10, 10]],
    ["an unknown number", Number.POSITIVE_INFINITY, [33, 67]],
  ])("%s", (_name, count, sizes) => {
    expect(planChunks(count, 2)).toEqual(sizes);
  });

  it("have all tickets, and none has more than it may", () => {
    for (let count = 1; count < 2500; count += 1) {
      for (const tabs of [1, 2, 3, 8]) {
        const sizes = planChunks(count, tabs);
        expect(sizes.reduce((sum, size) => sum + size, 0)).toBeGreaterThanOrEqual(count);
        expect(Math.max(...sizes)).toBeLessThanOrEqual(100);
      }
    }
  });
});
