import type { CheckinListFields } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { VoucherFields } from "@tessera/protos/gen/ticketing/voucher/v1/vouchers";

/** A check-in list of all tickets. */
export const plainList: CheckinListFields = {
  name: "Entrance",
  allProducts: true,
  limitProducts: [],
  includePending: false,
  allowMultipleEntries: false,
  allowEntryAfterExit: true,
  rules: "{}",
  addonMatch: false,
  ignoreInStatistics: false,
  considerTicketsUsed: true,
  takesFrom: [],
};

/** A voucher that is used once, blocks nothing and names nothing. */
export const plainVoucher: VoucherFields = {
  code: "",
  maxUsages: 1,
  minUsages: 1,
  blockQuota: false,
  allowIgnoreQuota: false,
  priceMode: "none",
  tag: "",
  comment: "",
  showHiddenItems: true,
  allAddonsIncluded: false,
  allBundlesIncluded: false,
};
