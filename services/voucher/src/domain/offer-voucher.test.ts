import { describe, expect, it } from "vitest";
import { ask, catalogue, market, series, shopVoucher } from "../testing/market.ts";
import { type Ask, offerVoucher, type ShopVoucher } from "./offer-voucher.ts";

const offerOf = (voucher: Partial<ShopVoucher>, asked: Partial<Ask> = {}, known = catalogue) => {
  const answer = offerVoucher(ask(asked), market([shopVoucher(voucher)], { catalogue: known }));
  return "offer" in answer ? answer.offer : answer.refusal.reason;
};
const tenOff = { priceMode: "subtract", value: "10.00" } as const;

describe("an offer", () => {
  it("[V7.1, V7.8] has prices, the discount, and what is left with this use", () => {
    const voucher = { ...tenOff, id: 7, maxUsages: 9, redeemed: 2, reserved: 3, minUsages: 5, budget: "50.00" };
    expect(offerOf({ ...voucher, budgetUsed: "10.00", reservedBudget: "30.00" })).toEqual({
      voucher: 7,
      priceBefore: "23.00",
      price: "13.00",
      discount: "10.00",
      usesLeft: 4,
      budgetLeft: "10.00",
      remainingMinimum: 3,
    });
  });

  it.each([
    ["of an item", {}, catalogue, "23.00"],
    ["of a variation", { item: 2, variation: 21 }, catalogue, "45.00"],
    ["of a variation without a price of its own", { item: 2, variation: 22 }, catalogue, "40.00"],
    ["of an item on a date", { subevent: 5 }, series, "20.00"],
    ["of a variation on a date", { item: 2, variation: 21, subevent: 5 }, series, "38.00"],
    [
      "of a variation, of whose item alone the date says something",
      { item: 2, variation: 22, subevent: 5 },
      series,
      "35.00",
    ],
    [
      "of a variation with a price of its own, of whose item alone the date says something",
      { item: 2, variation: 23, subevent: 5 },
      series,
      "35.00",
    ],
    ["on a date that says nothing of it", { item: 2, variation: 21, subevent: 6 }, series, "45.00"],
    ["that the shop names", { item: 2, variation: 21, price: "1.5" }, catalogue, "1.50"],
  ])("[V7.3] begins with the price %s", (_name, asked, known, priceBefore) => {
    expect(offerOf({}, asked, known)).toMatchObject({ priceBefore, price: priceBefore, discount: "0.00" });
  });

  it.each([
    ["JPY", 0, "1001.00", "501.00", "500.00"],
    ["EUR", 2, "0.05", "0.03", "0.02"],
    ["KWD, of which money has two places", 3, "1.25", "0.63", "0.62"],
  ])("[V7.4] rounds half up to the places of the currency: %s", (_name, places, price, expected, discount) => {
    const half = { priceMode: "percent", value: "50.00" } as const;
    expect(offerOf(half, { price }, { ...catalogue, places })).toMatchObject({ price: expected, discount });
  });

  it("[V7.5] has no discount where the price is higher", () => {
    const dearer = { priceMode: "set", value: "30.00", budget: "0.00" } as const;
    expect(offerOf(dearer)).toMatchObject({ price: "30.00", discount: "0.00", budgetLeft: "0.00" });
  });

  it("[V7.5] has no larger discount than what is left of the budget beside what others hold", () => {
    const voucher = { ...tenOff, budget: "20.00", budgetUsed: "5.00", reservedBudget: "12.00" };
    expect(offerOf(voucher)).toMatchObject({ price: "20.00", discount: "3.00", budgetLeft: "3.00" });
    expect(offerOf({ ...voucher, budget: "10.00" })).toMatchObject({ discount: "0.00", budgetLeft: "0.00" });
  });
});

describe("a refusal", () => {
  it("[V7.6] is the first of several reasons", () => {
    const other = shopVoucher({ id: 2, code: "OTHER", seat: "A-2", subevent: 6 });
    let asked = ask({ code: "TYPO", item: 3, subevent: 4, seat: "A-1" });
    let wrong = shopVoucher({
      validUntil: 1000,
      redeemed: 3,
      reserved: 3,
      maxUsages: 3,
      item: 2,
      subevent: 6,
      seat: "A-2",
    });
    const next = (mended: { voucher?: Partial<ShopVoucher>; ask?: Partial<Ask> } = {}) => {
      wrong = { ...wrong, ...mended.voucher };
      asked = { ...asked, ...mended.ask };
      const answer = offerVoucher(asked, market([wrong, other], { catalogue: series }));
      return "offer" in answer ? "offer" : answer.refusal.reason;
    };
    expect([
      next(),
      next({ ask: { code: "SUMMER23" } }),
      next({ voucher: { validUntil: 1001 } }),
      next({ voucher: { redeemed: 0 } }),
      next({ voucher: { reserved: 2 } }),
      next({ ask: { item: 2 } }),
      next({ ask: { variation: 9 } }),
      next({ ask: { item: 1, variation: null } }),
      next({ ask: { item: 2, variation: 21 } }),
      next({ ask: { subevent: null } }),
      next({ ask: { subevent: 5 } }),
      next({ ask: { subevent: 6 } }),
      next({ ask: { seat: "A-2" } }),
      next({ voucher: { seat: null } }),
      next({ ask: { seat: "A-3" } }),
    ]).toEqual([
      "unknown_code",
      "expired",
      "used_up",
      "reserved",
      "unknown_product",
      "unknown_product",
      "unknown_product",
      "other_product",
      "unknown_date",
      "unknown_date",
      "other_date",
      "other_seat",
      "seat_of_other_voucher",
      "seat_of_other_voucher",
      "offer",
    ]);
  });

  it.each([
    ["of another date", { subevent: 5 }],
    ["that has expired", { validUntil: 1000 }],
    ["that is used up", { redeemed: 1 }],
  ])("is none because of a seat of a voucher %s", (_name, changes) => {
    const other = shopVoucher({ id: 2, code: "OTHER", seat: "A-2", subevent: 6, ...changes });
    const known = market([shopVoucher(), other], { catalogue: series });
    expect(offerVoucher(ask({ subevent: 6, seat: "A-2" }), known)).toHaveProperty("offer");
  });

  it("[V7.7] depends on the members of a quota: items, or variations where there are any", () => {
    const outcomes = [{}, { item: 2, variation: 21 }, { item: 2, variation: 22 }].map((asked) =>
      offerOf({ quota: 9 }, asked),
    );
    expect(outcomes).toMatchObject([{ price: "23.00" }, { price: "45.00" }, "other_product"]);
    expect(offerOf({ quota: 8 })).toBe("other_product");
  });
});
