import { placesOfCurrency } from "@tessera/values";
import { describe, expect, it } from "vitest";
import { addTax } from "./tax.ts";

const rule = (rate: string, { includesTax = true } = {}) => ({ id: 3, rate, code: "S/standard", includesTax });

describe("[O3.2, O3.3, R2.19] the tax of a ticket", () => {
  it.each([
    ["23.00", "19.00", "EUR", "23.00", "3.67"],
    ["23.00", "7.00", "EUR", "23.00", "1.50"],
    ["23.00", "8.10", "CHF", "23.00", "1.72"],
    ["23.00", "0.00", "EUR", "23.00", "0.00"],
    ["23.00", "8.875", "USD", "23.00", "1.87"],
    ["23.00", "9.975", "CAD", "23.00", "2.09"],
    ["0.00", "19.00", "EUR", "0.00", "0.00"],
    ["0.01", "19.00", "EUR", "0.01", "0.00"],
    // Net 0.125: the half is rounded up.
    ["0.15", "20.00", "EUR", "0.15", "0.02"],
    ["99999999999.99", "19.00", "EUR", "99999999999.99", "15966386554.62"],
    ["1000.00", "10.00", "JPY", "1000.00", "91.00"],
    ["1000.50", "10.00", "JPY", "1001.00", "91.00"],
    ["1000.50", "27.00", "HUF", "1000.50", "212.70"],
    ["10.00", "15.00", "KWD", "10.000", "1.304"],
    ["1.25", "5.00", "KWD", "1.250", "0.060"],
  ])("in %s at %s %% in %s: %s, of it %s", (listed, rate, currency, price, taxValue) => {
    const money = { price, taxRate: rate, taxValue, taxCode: "S/standard", taxRule: 3 };
    expect(addTax(listed, rule(rate), placesOfCurrency(currency))).toEqual(money);
  });

  it.each([
    ["19.33", "19.00", "EUR", "23.00", "3.67"],
    ["20.00", "0.00", "EUR", "20.00", "0.00"],
    ["0.50", "5.00", "EUR", "0.53", "0.03"],
    ["1005.00", "10.00", "JPY", "1106.00", "101.00"],
    ["1.25", "5.00", "KWD", "1.313", "0.063"],
  ])("on top of %s at %s %% in %s: %s, of it %s", (listed, rate, currency, price, taxValue) => {
    const money = { price, taxRate: rate, taxValue, taxCode: "S/standard", taxRule: 3 };
    expect(addTax(listed, rule(rate, { includesTax: false }), placesOfCurrency(currency))).toEqual(money);
  });

  it("without a rule is none", () => {
    expect(addTax("23.00", null, 2)).toEqual({
      price: "23.00",
      taxRate: "0.00",
      taxValue: "0.00",
      taxCode: null,
      taxRule: null,
    });
  });
});
