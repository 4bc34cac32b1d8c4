import { assert, json, property } from "fast-check";
import { describe, expect, it } from "vitest";
import { deepestNesting, findExcess } from "./nesting.ts";

const nested = (depth: number, inside = "") => "[".repeat(depth) + inside + "]".repeat(depth);

function depthOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  return 1 + Math.max(0, ...Object.values(value).map(depthOf));
}

describe("findExcess", () => {
  it("[S4.4] allows what is allowed, and not one level more", () => {
    expect(findExcess(nested(deepestNesting, JSON.stringify("x".repeat(200))), 1000)).toBe(undefined);
    expect(findExcess(nested(deepestNesting + 1), 1000)).toBe("levels");
    expect(findExcess(`${'{"a":'.repeat(65)}1${"}".repeat(65)}`, 1000)).toBe("levels");
  });

  it("[S4.24] allows as many values as are allowed, and not one more, whatever they are in", () => {
    for (const one of ["1", "[]", '{"a":"[,{"}', "[1,1]"]) {
      const json = `[${Array.from({ length: 200 }, () => one).join()}]`;
      const values = json.replaceAll(/"[^"]*"/g, "").replaceAll(/[^,[{]/g, "").length + 1;
      expect([findExcess(json, values), findExcess(json, values - 1)], one).toEqual([undefined, "values"]);
    }
  });

  it("does not count the characters of a text", () => {
    expect(findExcess(JSON.stringify(["[{,".repeat(500), '\\"[[['.repeat(100)]), 10)).toBe(undefined);
    expect(findExcess(`["\\\\",${nested(70)}]`, 1000)).toBe("levels");
  });

  it("agrees with what a parser finds", () => {
    assert(
      property(json({ maxDepth: 5 }), (text) => {
        const wrapped = `${"[".repeat(61)}${text}${"]".repeat(61)}`;
        const isDeep = 61 + depthOf(JSON.parse(text)) > deepestNesting;
        expect(findExcess(wrapped, wrapped.length)).toBe(isDeep ? "levels" : undefined);
      }),
    );
  });
});
