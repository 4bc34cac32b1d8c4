import type { VoucherFields } from "./voucher.ts";

/** What a customer would buy. */
export interface Wanted {
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  /** The guid of its seat. */
  readonly seat: string | null;
}

/** The products of a quota. */
export interface QuotaMembers {
  readonly items: ReadonlySet<number>;
  readonly variations: ReadonlySet<number>;
}

/** Returns whether a voucher can be redeemed for this. `quota` is the voucher's; without it, a quota voucher is for nothing. */
export function appliesTo(
  voucher: Pick<VoucherFields, "item" | "variation" | "quota" | "subevent" | "seat">,
  wanted: Wanted,
  quota: QuotaMembers | undefined,
): boolean {
  if (voucher.subevent !== null && voucher.subevent !== wanted.subevent) return false;
  if (voucher.seat !== null && voucher.seat !== wanted.seat) return false;
  if (voucher.quota !== null) return quota !== undefined && isMember(wanted, quota);
  if (voucher.item !== null && voucher.item !== wanted.item) return false;
  return voucher.variation === null || voucher.variation === wanted.variation;
}

/** What has a variation is a member by it alone. */
function isMember({ item, variation }: Wanted, { items, variations }: QuotaMembers): boolean {
  return variation === null ? items.has(item) : variations.has(variation);
}
