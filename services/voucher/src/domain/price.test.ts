import { assert, constantFrom, integer, option, property, record } from "fast-check";
import { describe, expect, it } from "vitest";
import { voucher } from "../testing/voucher-fields.ts";
import { type PriceTerms, priceWith } from "./price.ts";

const priceOf = (price: string, terms: Partial<PriceTerms>, places = 2) => priceWith(voucher(terms), { price, places });

describe("priceWith", () => {
  it.each([
    ["none: unchanged, whatever the value", "23.00", { value: "10.00" }, "23.00"],
    ["set: the value", "23.00", { priceMode: "set", value: "10.00" }, "10.00"],
    ["set: also a higher price", "23.00", { priceMode: "set", value: "42.00" }, "42.00"],
    ["set: never below zero", "23.00", { priceMode: "set", value: "-1.00" }, "0.00"],
    ["subtract", "23.00", { priceMode: "subtract", value: "10.50" }, "12.50"],
    ["subtract: never below zero", "23.00", { priceMode: "subtract", value: "24.00" }, "0.00"],
    ["subtract: a negative value raises the price", "23.00", { priceMode: "subtract", value: "-2.00" }, "25.00"],
    ["percent", "23.00", { priceMode: "percent", value: "10.00" }, "20.70"],
    ["percent: a half is rounded up", "0.05", { priceMode: "percent", value: "50.00" }, "0.03"],
    ["percent: less than a half is rounded down", "9.99", { priceMode: "percent", value: "33.33" }, "6.66"],
    ["percent: all", "23.00", { priceMode: "percent", value: "100.00" }, "0.00"],
    ["percent: more than all", "23.00", { priceMode: "percent", value: "150.00" }, "0.00"],
    [
      "percent: more than all of nothing is no negative zero",
      "0.00",
      { priceMode: "percent", value: "150.00" },
      "0.00",
    ],
    ["set without a value", "23.00", { priceMode: "set", value: null }, "23.00"],
    ["subtract without a value", "23.00", { priceMode: "subtract", value: null }, "23.00"],
    ["percent without a value", "23.00", { priceMode: "percent", value: null }, "23.00"],
  ] as const)("%s", (_name, price, terms, expected) => {
    expect(priceOf(price, terms)).toBe(expected);
  });

  it.each([
    ["a discount within the budget", { value: "8.00", budget: "10.00" }, "15.00"],
    ["a discount that uses all of it", { value: "10.00", budget: "10.00" }, "13.00"],
    ["a discount above it", { value: "18.00", budget: "10.00" }, "13.00"],
    ["what is left of it", { value: "18.00", budget: "10.00", budgetUsed: "4.00" }, "17.00"],
    ["nothing left of it", { value: "18.00", budget: "10.00", budgetUsed: "10.00" }, "23.00"],
    ["more used than there was", { value: "18.00", budget: "10.00", budgetUsed: "11.00" }, "23.00"],
    ["a negative budget", { value: "18.00", budget: "-5.00" }, "23.00"],
    ["a higher price, which uses none of it", { value: "-18.00", budget: "0.00" }, "41.00"],
  ] as const)("a budget: %s", (_name, terms, expected) => {
    expect(priceOf("23.00", { priceMode: "subtract", ...terms })).toBe(expected);
  });

  it("caps the discount of a set price and of a percentage too", () => {
    expect(priceOf("23.00", { priceMode: "set", value: "1.00", budget: "2.00" })).toBe("21.00");
    expect(priceOf("23.00", { priceMode: "percent", value: "100.00", budget: "2.00" })).toBe("21.00");
  });

  it("rounds to the places of the currency, half up", () => {
    expect(priceOf("1001.00", { priceMode: "percent", value: "50.00" }, 0)).toBe("501.00");
    expect(priceOf("1000.00", { priceMode: "set", value: "10.49" }, 0)).toBe("10.00");
    expect(priceOf("1.25", { priceMode: "percent", value: "0.00" }, 1)).toBe("1.30");
    // Rounded once, also where the currency has more places than money: not 0.6645 to 0.665 first.
    expect(priceOf("1.00", { priceMode: "percent", value: "33.55" }, 3)).toBe("0.66");
  });

  it("does not exceed what is left of a budget in a currency without places", () => {
    expect(priceOf("1000.00", { priceMode: "percent", value: "100.00", budget: "100.50" }, 0)).toBe("900.00");
    expect(priceOf("1000.50", { priceMode: "percent", value: "100.00", budget: "0.00" }, 0)).toBe("1000.50");
  });

  const cents = integer({ min: 0, max: 10_000_000 });
  const signedCents = integer({ min: -10_000_000, max: 10_000_000 });
  const toText = (amount: number) => (amount / 100).toFixed(2);
  const toCents = (text: string) => Math.round(Number(text) * 100);
  const anyTerms = record({
    priceMode: constantFrom("none" as const, "set" as const, "subtract" as const, "percent" as const),
    value: option(signedCents.map(toText)),
    budget: option(signedCents.map(toText)),
    budgetUsed: cents.map(toText),
  });

  it("is money, never below zero, and never takes off more than is left of the budget", () => {
    assert(
      property(anyTerms, cents, constantFrom(0, 1, 2, 3), (terms, price, places) => {
        const result = priceWith(terms, { price: toText(price), places });
        expect(result).toMatch(/^\d+\.\d{2}$/);
        if (terms.budget === null) return;
        const left = Math.max(0, toCents(terms.budget) - toCents(terms.budgetUsed));
        expect(price - toCents(result)).toBeLessThanOrEqual(terms.priceMode === "none" ? 0 : left);
      }),
    );
  });

  it("has the places of the currency, if the listed price has", () => {
    assert(
      property(anyTerms, cents, constantFrom(0, 1, 2), (terms, amount, places) => {
        const unit = 10 ** (2 - places);
        const result = priceWith(terms, { price: toText(amount * unit), places });
        expect(toCents(result) % unit).toBe(0);
      }),
    );
  });

  it("takes off a percentage as whole numbers do", () => {
    assert(
      property(cents, integer({ min: 0, max: 10_000 }), (price, value) => {
        const result = priceOf(toText(price), { priceMode: "percent", value: toText(value) });
        const expected = (BigInt(price) * (10_000n - BigInt(value)) + 5000n) / 10_000n;
        expect(BigInt(toCents(result))).toBe(expected);
      }),
    );
  });

  it("costs no less with a smaller budget", () => {
    assert(
      property(anyTerms, cents, cents, cents, (terms, price, one, other) => {
        const withBudget = (budget: number) =>
          toCents(priceWith({ ...terms, budget: toText(budget) }, { price: toText(price), places: 2 }));
        expect(withBudget(Math.min(one, other))).toBeGreaterThanOrEqual(withBudget(Math.max(one, other)));
      }),
    );
  });
});
