import type { QuotaMembers, Wanted } from "./applies-to.ts";

/** What of an event decides whether a voucher is for a product, and what it costs. */
export interface ShopCatalogue {
  readonly isSeries: boolean;
  /** Of the currency. */
  readonly places: number;
  readonly items: ReadonlyMap<number, ShopItem>;
  readonly dates: ReadonlyMap<number, ShopDate>;
  readonly quotas: ReadonlyMap<number, QuotaMembers>;
}

export interface ShopItem {
  readonly price: string;
  /** Whether it is sold in variations only. */
  readonly hasVariations: boolean;
  /** The prices of its variations; null: that of the item. */
  readonly variations: ReadonlyMap<number, string | null>;
}

/** The prices of a date that differ from those of the products. */
export interface ShopDate {
  readonly items: ReadonlyMap<number, string>;
  readonly variations: ReadonlyMap<number, string>;
}

/** Finds the price of a product without a voucher: what is said for its date, its variation, then the item. */
export function listedPrice({ item, variation, subevent }: Wanted, { items, dates }: ShopCatalogue): string {
  const date = subevent === null ? undefined : dates.get(subevent);
  const product = items.get(item);
  const ofVariation =
    variation === null ? null : (date?.variations.get(variation) ?? product?.variations.get(variation));
  return ofVariation ?? date?.items.get(item) ?? product?.price ?? "0.00";
}
