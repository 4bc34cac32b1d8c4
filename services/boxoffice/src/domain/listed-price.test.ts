import { describe, expect, it } from "vitest";
import { listedPrice } from "./listed-price.ts";

const none = { item: null, variation: null };

describe("[O3.1] the listed price", () => {
  it.each([
    ["the item", "10.00", { defaultPrice: "10.00", variation: null, ofDate: none }],
    ["the item, of a variation without one", "10.00", { variation: { defaultPrice: null }, ofDate: none }],
    ["the variation", "12.00", { variation: { defaultPrice: "12.00" }, ofDate: none }],
    ["a variation that is free", "0.00", { variation: { defaultPrice: "0.00" }, ofDate: none }],
    ["the item on the date", "8.00", { variation: null, ofDate: { item: "8.00", variation: null } }],
    [
      "the item on the date, before the variation",
      "8.00",
      { variation: { defaultPrice: "12.00" }, ofDate: { item: "8.00", variation: null } },
    ],
    [
      "the variation on the date",
      "7.00",
      { variation: { defaultPrice: "12.00" }, ofDate: { item: "8.00", variation: "7.00" } },
    ],
  ])("is that of %s", (_name, price, offer) => {
    expect(listedPrice({ defaultPrice: "10.00", ...offer })).toBe(price);
  });
});
