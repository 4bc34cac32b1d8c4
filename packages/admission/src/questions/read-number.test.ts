import { describe, expect, it } from "vitest";
import { question, textOf } from "../testing/read-answers.ts";

describe("a number (N)", () => {
  it.each([
    ["3", "“3”"],
    ["3.24", "“3.24”"],
    ["3.240", "“3.240”"],
    ["  3.24\t", "“3.24”"],
    [3, "“3”"],
    [0, "“0”"],
    [-0, "“0”"],
    [2.5, "“2.5”"],
    [1e-7, "“0.0000001”"],
    ["0", "“0”"],
    ["-0.0", "“0.0”"],
    ["-1.50", "“-1.50”"],
    ["+7", "“7”"],
    ["007", "“7”"],
    [".5", "“0.5”"],
    ["5.", "“5”"],
    ["1e3", "“1000”"],
    ["12.5E-3", "“0.0125”"],
    ["1.2345e2", "“123.45”"],
    ["123456789012345678901234567890.123456789", "“123456789012345678901234567890.123456789”"],
    // A JSON number has lost digits by then.
    [2 ** 53, "refused"],
    [1e99, "refused"],
    ["2,56", "refused"],
    ["1,234", "refused"],
    ["1 000", "refused"],
    ["--1", "refused"],
    [".", "refused"],
    ["e1", "refused"],
    ["1e999", "refused"],
    ["NaN", "refused"],
    ["Infinity", "refused"],
    ["0x10", "refused"],
    ["three", "refused"],
    ["   ", "refused"],
    [true, "refused"],
    ["1".repeat(101), "refused"],
  ])("[C5.6, C5.7, C5.9] is read from %j as %s", (value, expected) => {
    expect(textOf(question("N"), value)).toBe(expected);
  });

  it("[C5.6] is zero also where it is required", () => {
    expect(textOf(question("N", { required: true }), 0)).toBe("“0”");
  });

  it.each([
    ["de", "2,56", "“2.56”"],
    ["de-informal", " -2,50 ", "“-2.50”"],
    ["fr", ",5", "“0.5”"],
    ["de", "2.56", "“2.56”"],
    ["de", "1,234", "“1.234”"],
    ["de", "1.234,5", "refused"],
    ["de", "1,2,3", "refused"],
    ["de_AT", "2,56", "“2.56”"],
    ["de-CH", "2.56", "“2.56”"],
    ["de", "1,234.5", "refused"],
    ["ar-EG", "2.5", "“2.5”"],
    ["xx", "2,5", "refused"],
    ["not a locale", "2.5", "“2.5”"],
  ])("[C5.9] is written as the language of the event does: in %s %j is %s", (locale, value, expected) => {
    expect(textOf(question("N"), value, { locale })).toBe(expected);
  });

  it.each([
    ["1", "“1”"],
    ["1.0000000", "“1.0000000”"],
    ["0.99999999999999999999999999", "refused"],
    ["99999999999.0000000000000000001", "refused"],
    ["99999999999", "“99999999999”"],
    ["-1", "refused"],
    [0, "refused"],
  ])("[C5.10] from 1 to 99999999999, compared digit by digit: %j is %s", (value, expected) => {
    const limited = question("N", { valid_number_min: "1.000000", valid_number_max: "99999999999.000000" });
    expect(textOf(limited, value)).toBe(expected);
  });

  it.each([
    ["-0.3", "“-0.3”"],
    ["-0.30000001", "refused"],
    ["-0.1", "“-0.1”"],
    ["-0.09", "refused"],
  ])("[C5.10] from -0.3 to -0.1: %j is %s", (value, expected) => {
    const limited = question("N", { valid_number_min: "-0.300000", valid_number_max: "-0.100000" });
    expect(textOf(limited, value)).toBe(expected);
  });
});
