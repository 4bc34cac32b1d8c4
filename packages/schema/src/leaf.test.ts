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

describe("a UUID", () => {
  it("is read in any letter case, into small letters", () => {
    const uuid = "6b0d9a52-6f0e-4a3c-9a4e-1d2f3c4b5a69";
    for (const sent of [uuid, uuid.toUpperCase(), ` ${uuid} `])
      expect(checkLeaf({ read: "uuid" }, sent)).toEqual({ value: uuid });
    for (const sent of ["cart-1", `${uuid}0`, 7, true])
      expect(checkLeaf({ read: "uuid" }, sent)).toEqual({ problem: "Must be a valid UUID." });
  });
});

describe("a decimal that is not negative", () => {
  it.each([
    [0, "0.00"],
    ["-0", "0.00"],
    ["12.5", "12.50"],
  ])("may be %j", (sent, value) => {
    expect(checkLeaf({ read: "decimal", negative: false }, sent)).toEqual({ value });
  });

  it("is not below zero", () => {
    expect(checkLeaf({ read: "decimal", negative: false }, "-0.01")).toHaveProperty("problem");
    expect(checkLeaf({ read: "decimal" }, "-0.01")).toEqual({ value: "-0.01" });
  });
});
