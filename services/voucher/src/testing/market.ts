import type { Ask, Market, ShopVoucher } from "../domain/offer-voucher.ts";
import type { ShopCatalogue } from "../domain/shop-catalogue.ts";
import { voucher } from "./voucher-fields.ts";

export function shopVoucher(changes: Partial<ShopVoucher> = {}): ShopVoucher {
  return { ...voucher(), reserved: 0, reservedBudget: "0.00", ...changes };
}

/** Item 1 costs 23.00; item 2 has variations: 21 and 23 at their own prices, 22 at that of the item. */
export const catalogue: ShopCatalogue = {
  isSeries: false,
  places: 2,
  items: new Map([
    [1, { price: "23.00", hasVariations: false, variations: new Map() }],
    [
      2,
      {
        price: "40.00",
        hasVariations: true,
        variations: new Map([
          [21, "45.00"],
          [22, null],
          [23, "50.00"],
        ]),
      },
    ],
  ]),
  dates: new Map(),
  quotas: new Map([[9, { items: new Set([1]), variations: new Set([21]) }]]),
};

/** The dates of a series: on 5 all named products cost less, on 6 nothing differs. */
export const series: ShopCatalogue = {
  ...catalogue,
  isSeries: true,
  dates: new Map([
    [
      5,
      {
        items: new Map([
          [1, "20.00"],
          [2, "35.00"],
        ]),
        variations: new Map([[21, "38.00"]]),
      },
    ],
    [6, { items: new Map(), variations: new Map() }],
  ]),
};

export function market(vouchers: readonly ShopVoucher[], changes: Partial<Market> = {}): Market {
  return {
    vouchers: new Map(vouchers.map((each) => [each.code, each])),
    claims: Map.groupBy(vouchers, ({ seat }) => seat ?? ""),
    catalogue,
    now: 1000,
    ...changes,
  };
}

export function ask(changes: Partial<Ask> = {}): Ask {
  return { code: "SUMMER23", item: 1, variation: null, subevent: null, seat: null, price: null, ...changes };
}
