import { describe, expect, it } from "vitest";
import { planSearch } from "./search-text.ts";

describe("planSearch", () => {
  it.each([
    ["press", ["%press%"]],
    ["100%_\\", ["%100\\%\\_\\\\%"]],
    ["Grüße", ["%Grüße%", "%GRÜSSE%"]],
  ])("looks for %j by %j", (search, patterns) => {
    expect(planSearch(search).patterns).toEqual(patterns);
  });

  it.each([
    ["abc", true],
    ["a-b-c1", false],
    ["ab", false],
    ["a-123", true],
    ["äöü", true],
    ["---", false],
  ])("finds %j by the index: %j", (search, isIndexed) => {
    expect(planSearch(search).isIndexed).toBe(isIndexed);
  });
});
