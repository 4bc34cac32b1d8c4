import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { checkRules } from "./check-rules.ts";

const table = JSON.parse(readFileSync(new URL("../../test/rules/written-rules.json", import.meta.url), "utf8")) as {
  readonly cases: readonly { readonly name: string; readonly rules: unknown; readonly problem: string | null }[];
};
const taken = table.cases.filter(({ problem }) => problem === null);
const refused = table.cases.filter(({ problem }) => problem !== null);

const nested = (depth: number, inner: unknown): unknown => {
  let rules = inner;
  for (let level = 0; level < depth; level += 1) rules = { and: [rules] };
  return rules;
};

describe("checkRules", () => {
  it("has examples of both", () => {
    expect(taken.length).toBeGreaterThan(20);
    expect(refused.length).toBeGreaterThan(40);
  });

  it.each(taken)("[C4.1, C4.2, C4.3] takes $name", ({ rules }) => {
    expect(checkRules(rules)).toBeUndefined();
  });

  it.each(refused)("[C4.2, C4.3, C4.4, C4.5, C4.6] refuses $name, and says where", ({ rules, problem }) => {
    expect(checkRules(rules)).toBe(problem);
  });

  it("[C4.7] takes 50 levels and no more, of operations as of lists", () => {
    expect(checkRules(nested(25, true))).toBeUndefined();
    expect(checkRules(nested(26, true))).toBe("The rules nest deeper than 50 levels.");
    expect(checkRules(nested(24, [[]]))).toBeUndefined();
    expect(checkRules(nested(24, [[[]]]))).toBe("The rules nest deeper than 50 levels.");
    expect(checkRules(nested(200_000, true))).toBe("The rules nest deeper than 50 levels.");
    const list = JSON.parse(`${"[".repeat(200_000)}${"]".repeat(200_000)}`) as unknown;
    expect(checkRules({ and: [list] })).toBe("The rules nest deeper than 50 levels.");
  });

  it("[C4.7] takes 5000 values and no more, in any place", () => {
    const zeros = (length: number) => Array.from({ length }, () => 0);
    expect(checkRules({ and: zeros(4999) })).toBeUndefined();
    expect(checkRules({ and: zeros(5000) })).toBe("The rules consist of more than 5000 values.");
    expect(checkRules({ inList: [1, zeros(4997)] })).toBeUndefined();
    expect(checkRules({ inList: [1, zeros(4998)] })).toBe("The rules consist of more than 5000 values.");
    expect(checkRules(zeros(1_000_000))).toBe("The rules consist of more than 5000 values.");
  });

  it("[C4.7] takes 100000 characters of text and no more", () => {
    expect(checkRules({ "==": ["x".repeat(50_000), "y".repeat(50_000)] })).toBeUndefined();
    expect(checkRules({ "==": ["x".repeat(50_000), "y".repeat(50_001)] })).toContain("100000 characters");
  });
});
