import type { Voucher, VoucherFields } from "../domain/voucher.ts";

/** The default fields, with changes. */
export function voucherFields(changes: Partial<VoucherFields> = {}): VoucherFields {
  return {
    code: "SUMMER23",
    maxUsages: 1,
    minUsages: 1,
    validUntil: null,
    blockQuota: false,
    allowIgnoreQuota: false,
    priceMode: "none",
    value: null,
    item: null,
    variation: null,
    quota: null,
    seat: null,
    tag: "",
    comment: "",
    subevent: null,
    showHiddenItems: true,
    allAddonsIncluded: false,
    allBundlesIncluded: false,
    budget: null,
    ...changes,
  };
}

/** A voucher that was never redeemed, with changes. */
export function voucher(changes: Partial<Voucher> = {}): Voucher {
  return { ...voucherFields(), id: 1, createdAt: 0, redeemed: 0, budgetUsed: "0.00", ...changes };
}
