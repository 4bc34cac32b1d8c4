import type { Instant } from "@tessera/values";

/** What the value of a voucher does to a price. */
export type PriceMode = "none" | "set" | "subtract" | "percent";

/** What an organizer sets on a voucher. Money is a decimal with two places. */
export interface VoucherFields {
  /** In upper case, and unique in the event. */
  readonly code: string;
  readonly maxUsages: number;
  /** How often it must be redeemed the first time. */
  readonly minUsages: number;
  /** The first moment at which it is expired; null: never. */
  readonly validUntil: Instant | null;
  readonly blockQuota: boolean;
  readonly allowIgnoreQuota: boolean;
  readonly priceMode: PriceMode;
  readonly value: string | null;
  /** With no item and no quota it is for everything. */
  readonly item: number | null;
  readonly variation: number | null;
  readonly quota: number | null;
  /** The guid of a seat. */
  readonly seat: string | null;
  readonly tag: string;
  readonly comment: string;
  /** Null: it is for all dates, and blocks quotas without a date. */
  readonly subevent: number | null;
  readonly showHiddenItems: boolean;
  readonly allAddonsIncluded: boolean;
  readonly allBundlesIncluded: boolean;
  /** The sum of discounts after which it is used up; null: unlimited. */
  readonly budget: string | null;
}

export interface Voucher extends VoucherFields {
  readonly id: number;
  readonly createdAt: Instant;
  readonly redeemed: number;
  readonly budgetUsed: string;
}

/** Returns whether a voucher can no longer be redeemed because of its age. */
export function isExpired({ validUntil }: Pick<VoucherFields, "validUntil">, now: Instant): boolean {
  return validUntil !== null && validUntil <= now;
}

/** Returns how often a voucher can still be redeemed while it is valid. */
export function usagesLeft({ maxUsages, redeemed }: Pick<Voucher, "maxUsages" | "redeemed">): number {
  return Math.max(maxUsages - redeemed, 0);
}
