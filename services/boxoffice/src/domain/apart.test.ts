import { expect, it } from "vitest";
import { apart } from "./apart.ts";

it("has neighbours of a list in different parts, and leaves nothing out", () => {
  expect(apart(["a", "b", "c", "d", "e", "f", "g"], 3)).toEqual(["a", "d", "g", "b", "e", "c", "f"]);
  expect(apart(["a", "b"], 3)).toEqual(["a", "b"]);
  expect(apart([], 3)).toEqual([]);
});

it("has whole parts without neighbours", () => {
  const list = Array.from({ length: 800 }, (_, at) => at);
  const sorted = apart(list, 16);
  for (let part = 0; part < 16; part += 1) {
    const ofPart = sorted.slice(part * 50, part * 50 + 50);
    const distances = ofPart.slice(1).map((each, at) => each - (ofPart[at] ?? 0));
    expect(Math.min(...distances)).toBe(16);
  }
  expect(sorted.toSorted((a, b) => a - b)).toEqual(list);
});
