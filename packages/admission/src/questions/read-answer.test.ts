import { describe, expect, it } from "vitest";
import { question, read, textOf } from "../testing/read-answers.ts";
import type { QuestionType } from "./question.ts";

const types: readonly QuestionType[] = ["N", "S", "T", "B", "C", "M", "F", "D", "H", "W", "CC", "TEL"];

describe("any question", () => {
  describe.each(types)("of type %s", (type) => {
    it.each([[""], [null], [undefined], [[]]])("[C5.5] is left empty by %j where it is optional", (value) => {
      expect(textOf(question(type), value)).toBe("empty");
      expect(textOf(question(type, { required: true }), value)).toBe("refused");
    });

    it("[C5.8] allows nothing that no store could hold, and no lists or objects where it asks for one thing", () => {
      const long = "1".repeat(64 * 1024 + 1);
      const odd = [
        "\0",
        "1\0",
        "\ud800",
        "1\udfff",
        long,
        { toString: "1" },
        Object.create({}) as object,
        [[]],
        [{}],
        [null],
        Number.POSITIVE_INFINITY,
        Number.NaN,
      ];
      for (const value of odd) expect(textOf(question(type), value)).toBe("refused");
    });
  });
});

describe.each(["S", "T"] as const)("a text (%s)", (type) => {
  it.each([
    ["  as it is\n", "“  as it is\n”"],
    [" ", "“ ”"],
    [42, "“42”"],
    [0, "“0”"],
    [true, "“True”"],
    [false, "“False”"],
    ["\u0001", "“\u0001”"],
    ["x".repeat(64 * 1024), `“${"x".repeat(64 * 1024)}”`],
  ])("[C5.7, C5.11] is kept to the letter: %j", (value, expected) => {
    expect(textOf(question(type), value)).toBe(expected);
  });

  it.each([
    ["ab", "“ab”"],
    ["abc", "“abc”"],
    ["a", "refused"],
    ["abcd", "refused"],
    ["😀😀😀", "“😀😀😀”"],
    ["😀", "refused"],
    // Two code points that look like one character.
    ["e\u0301", "“e\u0301”"],
    ["\u00e9", "refused"],
    // A family emoji is seven code points: four people and three joiners.
    ["👨‍👩‍👧‍👦", "refused"],
    [12, "“12”"],
    [1234, "refused"],
  ])("[C5.11] of two or three characters: %j is %s", (value, expected) => {
    expect(textOf(question(type, { valid_string_length_min: 2, valid_string_length_max: 3 }), value)).toBe(expected);
  });
});

describe("a yes or no (B)", () => {
  it.each([
    [true, "“True”", "“True”"],
    ["true", "“True”", "“True”"],
    ["True", "“True”", "“True”"],
    [false, "“False”", "refused"],
    ["false", "“False”", "refused"],
    ["False", "“False”", "refused"],
    ["TRUE", "“False”", "refused"],
    ["yes", "“False”", "refused"],
    [" true", "“False”", "refused"],
    [1, "“False”", "refused"],
    [0, "“False”", "refused"],
  ])("[C5.6, C5.7, C5.12] is read from %j as %s, where a yes is required as %s", (value, optional, required) => {
    expect(textOf(question("B"), value)).toBe(optional);
    expect(textOf(question("B", { required: true }), value)).toBe(required);
  });
});

describe("a file (F)", () => {
  const sha256 = "ab".repeat(32);
  const file = { upload: "2f9f…", name: "me.png", contentType: "image/png", size: 12, sha256 };

  it.each(["image/png", "image/jpeg", "image/gif", "application/pdf"])("[C5.16] may be of type %s", (contentType) => {
    const sent = { ...file, contentType };
    expect(read(question("F"), "file:2f9f…", { file: sent })).toEqual({
      text: `file:${contentType};12;${sha256}`,
      options: [],
      file: sent,
    });
  });

  it.each(["image/svg+xml", "text/html", ""])("[C5.16] may not be of type %j", (contentType) => {
    expect(textOf(question("F"), "file:2f9f…", { file: { ...file, contentType } })).toBe("refused");
  });

  it.each(["file:2f9f…", `file:image/png;12;${sha256}`, 7, true])("[C5.16] is not %j without an upload", (value) => {
    expect(textOf(question("F"), value)).toBe("refused");
  });

  it("[C5.16] answers no other question", () => {
    expect(read(question("S"), "file:2f9f…", { file })).toEqual({ text: "file:2f9f…", options: [], file: null });
    expect(textOf(question("C"), "file:2f9f…", { file })).toBe("refused");
  });
});

describe("a country (CC)", () => {
  it.each([
    ["DE", "“DE”"],
    ["de", "“de”"],
    ["dE", "“dE”"],
    ["AQ", "“AQ”"],
    ["EU", "refused"],
    ["UK", "refused"],
    ["XX", "refused"],
    ["DEU", "refused"],
    [" DE", "refused"],
    ["Germany", "refused"],
    // Its upper case is IE.
    ["ıE", "refused"],
    ["ß", "refused"],
    [49, "refused"],
    [true, "refused"],
  ])("[C5.23] is read from %j as %s", (value, expected) => {
    expect(textOf(question("CC"), value)).toBe(expected);
  });

  it("[C5.23] is each of those that have a code of ISO 3166-1", () => {
    const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
    const codes = letters.flatMap((first) => letters.map((second) => first + second));
    const taken = codes.filter((code) => textOf(question("CC"), code) !== "refused");
    const names = new Intl.DisplayNames("en", { type: "region", fallback: "none" });
    expect(taken).toHaveLength(249);
    expect(new Set(taken.map((code) => names.of(code))).size).toBe(249);
    expect(taken.every((code) => new Intl.Locale(`und-${code}`).region === code)).toBe(true);
  });
});

describe("a phone number (TEL)", () => {
  it.each(["+49 30 901820", "ask the front desk", " 110 "])("[C5.24] is kept to the letter: %j", (value) => {
    expect(textOf(question("TEL"), value)).toBe(`“${value}”`);
  });

  it("[C5.7, C5.24] may come as a number", () => {
    expect(textOf(question("TEL"), 110)).toBe("“110”");
  });
});
