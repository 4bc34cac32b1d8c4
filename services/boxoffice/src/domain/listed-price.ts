/** What the price of a product is made of, as its documents have it. */
export interface Priced {
  readonly defaultPrice: string;
  /** Null: the product has no variations. */
  readonly variation: { readonly defaultPrice: string | null } | null;
  /** Prices that hold on the date alone. */
  readonly ofDate: { readonly item: string | null; readonly variation: string | null };
}

/** Finds the listed price: the closest to what is sold, a variation on its date. */
export function listedPrice({ defaultPrice, variation, ofDate }: Priced): string {
  return ofDate.variation ?? ofDate.item ?? variation?.defaultPrice ?? defaultPrice;
}
