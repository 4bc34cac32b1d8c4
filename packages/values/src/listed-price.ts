/** What is said about the price of a product; null: nothing is said there. A price of zero is one. */
export interface SaidPrices {
  readonly item: string;
  /** Null also where the product has no variations. */
  readonly variation: string | null;
  readonly itemOnDate: string | null;
  readonly variationOnDate: string | null;
}

/** Finds the price before vouchers and taxes: a date goes before the product, and on each the variation before its item. */
export function listedPrice({ item, variation, itemOnDate, variationOnDate }: SaidPrices): string {
  return variationOnDate ?? itemOnDate ?? variation ?? item;
}
