import type { Instant } from "@tessera/values";
import { isExpired, usagesLeft, type Voucher } from "./voucher.ts";

/** The fields of a voucher that decide what it takes. */
export type TakingTerms = Pick<
  Voucher,
  | "item"
  | "variation"
  | "quota"
  | "subevent"
  | "seat"
  | "blockQuota"
  | "allowIgnoreQuota"
  | "maxUsages"
  | "redeemed"
  | "validUntil"
>;

/** What a voucher takes after a change, for the ledger. */
export interface CapacityNeed extends Pick<Voucher, "item" | "variation" | "quota" | "subevent" | "validUntil"> {
  /** All usages, redeemed ones included; 0: the voucher takes no quota. */
  readonly usages: number;
  /** Whether the product must have a quota, and additional usages must be free. */
  readonly isChecked: boolean;
  /** The guid of a seat that must be free of other vouchers. */
  readonly seat: string | null;
}

/** Returns whether a voucher may take capacity that others can have when it is released. */
export function isClaiming({ blockQuota, seat }: Pick<TakingTerms, "blockQuota" | "seat">): boolean {
  return blockQuota || seat !== null;
}

/** Returns how much a voucher takes of each matching quota. */
export function takenAmount(voucher: TakingTerms, now: Instant): number {
  return voucher.blockQuota && !isExpired(voucher, now) ? usagesLeft(voucher) : 0;
}

/**
 * Finds what the ledger must hold for a change; undefined: the ledger need not be asked.
 *
 * A seat is asked for with every change, since its state may have changed.
 */
export function findNeed(
  after: TakingTerms,
  { before, now }: { readonly before: TakingTerms | undefined; readonly now: Instant },
): CapacityNeed | undefined {
  const amount = takenAmount(after, now);
  const takesMore = amount > 0 && (before === undefined || isMore(after, { before, now }));
  // Also without usages: the product must have a quota.
  const isChecked = isQuotaChecked(after, { before, now });
  if (!takesMore && !isChecked && after.seat === null) return undefined;
  const { item, variation, quota, subevent, validUntil, seat, maxUsages } = after;
  const usages = after.blockQuota && !isExpired(after, now) ? maxUsages : 0;
  return { item, variation, quota, subevent, validUntil, usages, isChecked, seat };
}

/** Returns whether a voucher takes more than before, or other quotas, or longer. */
function isMore(after: TakingTerms, { before, now }: { readonly before: TakingTerms; readonly now: Instant }): boolean {
  return takenAmount(after, now) > takenAmount(before, now) || isElsewhere(after, before) || isLonger(after, before);
}

/**
 * Returns whether a change needs free capacity.
 *
 * Fewer usages, longer validity or respect for quotas need nothing that the voucher does not take already.
 */
function isQuotaChecked(
  after: TakingTerms,
  { before, now }: { readonly before: TakingTerms | undefined; readonly now: Instant },
): boolean {
  if (after.allowIgnoreQuota || !after.blockQuota || isExpired(after, now)) return false;
  if (before === undefined || !before.blockQuota || isExpired(before, now)) return true;
  return isElsewhere(after, before) || after.maxUsages > before.maxUsages;
}

function isElsewhere(after: TakingTerms, before: TakingTerms): boolean {
  return (
    after.item !== before.item ||
    after.variation !== before.variation ||
    after.quota !== before.quota ||
    after.subevent !== before.subevent
  );
}

function isLonger({ validUntil }: TakingTerms, { validUntil: former }: TakingTerms): boolean {
  return former !== null && (validUntil === null || validUntil > former);
}
