import type { voucher } from "@tessera/resources/voucher";
import type { InDomain } from "@tessera/schema/fields";
import type { Instant } from "@tessera/values";

/** The fields that an organizer sets. Money is a decimal with two places, and a code is in upper case. */
export type VoucherFields = InDomain<typeof voucher.properties>;

/** How the value of a voucher changes a price. */
export type PriceMode = VoucherFields["priceMode"];

export interface Voucher extends VoucherFields {
  readonly id: number;
  readonly createdAt: Instant;
  readonly redeemed: number;
  readonly budgetUsed: string;
}

/** Returns whether the validity of a voucher has ended. */
export function isExpired({ validUntil }: Pick<VoucherFields, "validUntil">, now: Instant): boolean {
  return validUntil !== null && validUntil <= now;
}

/** Returns how often a voucher can still be redeemed while it is valid. */
export function usagesLeft({ maxUsages, redeemed }: Pick<Voucher, "maxUsages" | "redeemed">): number {
  return Math.max(maxUsages - redeemed, 0);
}
