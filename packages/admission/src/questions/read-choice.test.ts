import { describe, expect, it } from "vitest";
import { question, read, textOf } from "../testing/read-answers.ts";

/** The ids of the chosen options, in order. */
function chosen(type: "C" | "M", value: unknown): string {
  const reading = read(question(type), value);
  return typeof reading === "string" ? reading : reading.options.map(({ id }) => id).join();
}

describe("a choice of one (C)", () => {
  it.each([
    [12, "12"],
    ["12", "12"],
    ["TOFU", "12"],
    // An option has this identifier, but ids take precedence.
    ["11", "11"],
    ["one, two", "14"],
    ["tofu", "refused"],
    [" 12", "refused"],
    ["12,11", "refused"],
    [99, "refused"],
    [12.5, "refused"],
    [-12, "refused"],
    [0, "refused"],
    [true, "refused"],
    [[12], "refused"],
    [{ id: 12 }, "refused"],
    ["99999999999999999999", "refused"],
    ["__proto__", "refused"],
  ])("[C5.7, C5.13] takes %j for %s", (value, expected) => {
    expect(chosen("C", value)).toBe(expected);
  });

  it("[C5.15] is written in the language of the event, else in any available one", () => {
    expect(textOf(question("C"), 11, { locale: "de-informal" })).toBe("“Fleisch”");
    expect(textOf(question("C"), 12, { locale: "de" })).toBe("“Tofu”");
  });
});

describe("a choice of many (M)", () => {
  it.each([
    ["12", "12"],
    ["11,12", "12,11"],
    ["MEAT,12", "12,11"],
    [[11, "TOFU", "13"], "12,11,13"],
    [["one, two"], "14"],
    [12, "12"],
    ["11, 12", "refused"],
    [",12", "refused"],
    ["12,", "refused"],
    ["12,12", "refused"],
    ["12,TOFU", "refused"],
    [[12, 12], "refused"],
    ["12,99", "refused"],
    [[12, [11]], "refused"],
    [[12, true], "refused"],
    [[""], "refused"],
    [{ 0: 12, length: 1 }, "refused"],
    ["one, two", "refused"],
    [Array.from({ length: 100_000 }, () => 12), "refused"],
    ["12,".repeat(30_000), "refused"],
  ])("[C5.7, C5.14] takes %j for %s", (value, expected) => {
    expect(chosen("M", value)).toBe(expected);
  });

  it("[C5.15] is written in the order of the options", () => {
    expect(textOf(question("M"), "13,MEAT,12", { locale: "de" })).toBe("“Tofu, Fleisch, Elf”");
  });
});
