import type { VoucherFields } from "./voucher.ts";

/** What a customer wants to buy. */
export interface Wanted {
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  /** The guid of the seat. */
  readonly seat: string | null;
}

/** The products of a quota. */
export interface QuotaMembers {
  readonly items: ReadonlySet<number>;
  readonly variations: ReadonlySet<number>;
}

type Terms = Pick<VoucherFields, "item" | "variation" | "quota" | "subevent" | "seat">;

/** What a voucher is restricted to. */
export type Restriction = "product" | "date" | "seat";

/**
 * Finds the first restriction of a voucher that the product does not meet. `quota` is the voucher's; a quota voucher
 * whose quota is gone is for nothing.
 */
export function findMismatch(voucher: Terms, wanted: Wanted, quota: QuotaMembers | undefined): Restriction | undefined {
  if (!isForProduct(voucher, wanted, quota)) return "product";
  if (voucher.subevent !== null && voucher.subevent !== wanted.subevent) return "date";
  return voucher.seat !== null && voucher.seat !== wanted.seat ? "seat" : undefined;
}

function isForProduct(voucher: Terms, wanted: Wanted, quota: QuotaMembers | undefined): boolean {
  if (voucher.quota !== null) return quota !== undefined && isMember(wanted, quota);
  if (voucher.item !== null && voucher.item !== wanted.item) return false;
  return voucher.variation === null || voucher.variation === wanted.variation;
}

/** Of an item with variations, only variations are members. */
function isMember({ item, variation }: Wanted, { items, variations }: QuotaMembers): boolean {
  return variation === null ? items.has(item) : variations.has(variation);
}
