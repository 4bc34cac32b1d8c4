import { describe, expect, it } from "vitest";
import { checkLeaf } from "./leaf.ts";

describe("a value of any kind", () => {
  it.each([[{ deep: [1, { a: null, b: "text" }] }], [[]], [-0.5], ["\u{1f39f}"]])("takes %j as it is", (value) => {
    expect(checkLeaf({ read: "any" }, value)).toEqual({ value });
  });

  it.each([
    ['{"rules": [{">": [1e999, 1]}]}', "This number is too large."],
    ["[-1e999]", "This number is too large."],
    ['{"a\\u0000": 1}', "Null characters are not allowed."],
    ['{"a": ["\\u0000"]}', "Null characters are not allowed."],
    ['{"\\ud800": true}', "The text holds half of a character pair."],
  ])("refuses what would not come back as it was sent: %s", (json, problem) => {
    expect(checkLeaf({ read: "any" }, JSON.parse(json))).toEqual({ problem });
  });
});
