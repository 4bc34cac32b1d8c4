import { listedPrice } from "@tessera/values";
import type { QuotaMembers, Wanted } from "./applies-to.ts";

/** The products of an event, as far as they decide whether a voucher applies, and the price. */
export interface ShopCatalogue {
  readonly isSeries: boolean;
  /** The decimal places of the currency. */
  readonly places: number;
  readonly items: ReadonlyMap<number, ShopItem>;
  readonly dates: ReadonlyMap<number, ShopDate>;
  readonly quotas: ReadonlyMap<number, QuotaMembers>;
}

export interface ShopItem {
  readonly price: string;
  /** Whether the item is sold in variations only. */
  readonly hasVariations: boolean;
  /** The prices of the variations; null: that of the item. */
  readonly variations: ReadonlyMap<number, string | null>;
}

/** The prices on a date that differ from those of the products. */
export interface ShopDate {
  readonly items: ReadonlyMap<number, string>;
  readonly variations: ReadonlyMap<number, string>;
}

/** Finds the price of a product without a voucher. */
export function findListedPrice({ item, variation, subevent }: Wanted, { items, dates }: ShopCatalogue): string {
  const date = subevent === null ? undefined : dates.get(subevent);
  const product = items.get(item);
  return listedPrice({
    item: product?.price ?? "0.00",
    variation: variation === null ? null : (product?.variations.get(variation) ?? null),
    itemOnDate: date?.items.get(item) ?? null,
    variationOnDate: variation === null ? null : (date?.variations.get(variation) ?? null),
  });
}
