import { assert, json, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { deepestNesting, nestsTooDeep } from "./nesting.ts";

const nested = (depth: number, inside = "") => "[".repeat(depth) + inside + "]".repeat(depth);

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("nestsTooDeep", () => {
  it("[S4.4] allows what is allowed, and not one level more", () => {
    expect(nestsTooDeep(nested(deepestNesting, JSON.stringify("x".repeat(200))))).toBe(false);
    expect(nestsTooDeep(nested(deepestNesting + 1))).toBe(true);
    expect(nestsTooDeep(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`)).toBe(true);
  });

  it("does not count the characters of a text", () => {
    expect(nestsTooDeep(JSON.stringify(["[{".repeat(500), '\\"[[['.repeat(100)]))).toBe(false);
    expect(nestsTooDeep(`["\\\\",${nested(70)}]`)).toBe(true);
  });

  it("agrees with what a parser finds", () => {
    assert(
      property(json({ maxDepth: 5 }), (text) => {
        const wrapped = `${"[".repeat(61)}${text}${"]".repeat(61)}`;
        expect(nestsTooDeep(wrapped)).toBe(61 + depthOf(JSON.parse(text)) > deepestNesting);
      }),
    );
  });
});
