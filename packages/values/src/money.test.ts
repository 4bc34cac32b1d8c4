import Big from "big.js";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findDecimalProblem, parseDecimal } from "./money.ts";

const limits = { digits: 13, places: 2 };

describe("parseDecimal", () => {
  it.each([
    ["12", "12.00"],
    ["12.5", "12.50"],
    ["12.34", "12.34"],
    [12.34, "12.34"],
    [0, "0.00"],
    [-0, "0.00"],
    ["-0.00", "0.00"],
    ["-3.5", "-3.50"],
    ["+3.5", "3.50"],
    [".5", "0.50"],
    ["5.", "5.00"],
    ["007", "7.00"],
    ["1e3", "1000.00"],
    ["1E3", "1000.00"],
    ["125e-2", "1.25"],
    ["1.25e1", "12.50"],
    [1e3, "1000.00"],
    [" 12.00\n", "12.00"],
    ["99999999999.99", "99999999999.99"],
  ])("reads %j as %s", (value, expected) => {
    expect(parseDecimal(value, limits)).toBe(expected);
    expect(findDecimalProblem(value, limits)).toBeUndefined();
  });

  it.each([
    ["", "not_a_number"],
    [" ", "not_a_number"],
    [".", "not_a_number"],
    ["-", "not_a_number"],
    ["e3", "not_a_number"],
    ["1e", "not_a_number"],
    ["12,34", "not_a_number"],
    ["1,000.00", "not_a_number"],
    ["1_000", "not_a_number"],
    ["1 000", "not_a_number"],
    ["--1", "not_a_number"],
    ["0x10", "not_a_number"],
    ["NaN", "not_a_number"],
    ["Infinity", "not_a_number"],
    ["12 EUR", "not_a_number"],
    ["１２", "not_a_number"],
    ["٣", "not_a_number"],
    [Number.NaN, "not_a_number"],
    [Number.POSITIVE_INFINITY, "not_a_number"],
    [true, "not_a_number"],
    [null, "not_a_number"],
    [undefined, "not_a_number"],
    [["1"], "not_a_number"],
    [{}, "not_a_number"],
    ["1e9999999999", "not_a_number"],
    [`${"0".repeat(200)}1`, "not_a_number"],
    ["1e999999999", "too_many_digits"],
    ["1e-999999999", "too_many_digits"],
    ["12345678901234", "too_many_digits"],
    [1e21, "too_many_digits"],
    ["0.001", "too_many_places"],
    ["12.000", "too_many_places"],
    [0.1 + 0.2, "too_many_digits"],
    ["123456789012", "too_many_whole_digits"],
  ])("refuses %j: %s", (value, problem) => {
    expect(parseDecimal(value, limits)).toBeUndefined();
    expect(findDecimalProblem(value, limits)).toBe(problem);
  });

  it.each([
    ["19.0000", "19.00"],
    ["19", "19.00"],
    ["8.875", "8.875"],
    ["9.9750", "9.975"],
    ["0.0001", "0.0001"],
    ["100.5", "100.50"],
    ["-0.0000", "0.00"],
    ["0", "0.00"],
  ])("writes %s with two places, or as many as it needs: %s", (value, expected) => {
    expect(parseDecimal(value, { digits: 7, places: 4, shown: 2 })).toBe(expected);
  });

  it("reads every amount of cents, as text and as number", () => {
    fc.assert(
      fc.property(fc.integer({ min: -9_999_999_999_999, max: 9_999_999_999_999 }), (cents) => {
        const text = new Big(cents).div(100).toFixed(2);
        expect(parseDecimal(text, limits)).toBe(text);
        expect(parseDecimal(Number(text), limits)).toBe(text);
        expect(parseDecimal(`${cents}e-2`, limits)).toBe(text);
      }),
    );
  });

  it("never throws and answers only within the limits", () => {
    const odd = fc.stringMatching(/^[+-]?[0-9]{0,20}\.?[0-9]{0,5}([eE][+-]?[0-9]{0,12})?$/);
    fc.assert(
      fc.property(fc.oneof(fc.anything(), odd), (value) => {
        const text = parseDecimal(value, limits);
        expect(text ?? "0.00").toMatch(/^-?[0-9]{1,11}\.[0-9]{2}$/);
        expect(text === undefined).toBe(findDecimalProblem(value, limits) !== undefined);
      }),
    );
  });
});
