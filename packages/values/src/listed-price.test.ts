import { describe, expect, it } from "vitest";
import { listedPrice, type SaidPrices } from "./listed-price.ts";

const prices = { item: "10.00", variation: "12.00", itemOnDate: "8.00", variationOnDate: "7.00" };

const rows: readonly (readonly [decides: keyof SaidPrices, said: readonly (keyof SaidPrices)[]])[] = [
  ["item", ["item"]],
  ["variation", ["item", "variation"]],
  ["itemOnDate", ["item", "itemOnDate"]],
  ["itemOnDate", ["item", "variation", "itemOnDate"]],
  ["variationOnDate", ["item", "variationOnDate"]],
  ["variationOnDate", ["item", "variation", "variationOnDate"]],
  ["variationOnDate", ["item", "itemOnDate", "variationOnDate"]],
  ["variationOnDate", ["item", "variation", "itemOnDate", "variationOnDate"]],
];

describe("[O3.1, V7.3] the listed price", () => {
  it.each(rows)("is that of %s, where prices are said of %j", (decides, said) => {
    const nothing = { item: "10.00", variation: null, itemOnDate: null, variationOnDate: null };
    const known = { ...nothing, ...Object.fromEntries(said.map((place) => [place, prices[place]])) };
    expect(listedPrice(known)).toBe(prices[decides]);
    expect(listedPrice({ ...known, [decides]: "0.00" })).toBe("0.00");
  });
});
