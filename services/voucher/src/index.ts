import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { Records, VoucherShop, Vouchers } from "@tessera/protos/services";
import { clients } from "./clients.ts";
import { categoryChanged, eventChanged, itemChanged, quotaChanged, subeventChanged } from "./consumers/keep-copies.ts";
import { voucherUseChanged } from "./consumers/voucher-use-changed.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import { checkVouchers } from "./handlers/check-vouchers.ts";
import { confirmReservation } from "./handlers/confirm-reservation.ts";
import { createVouchers } from "./handlers/create-vouchers.ts";
import { releaseReservation } from "./handlers/release-reservation.ts";
import { reserveVouchers } from "./handlers/reserve-vouchers.ts";
import { validateRecords } from "./handlers/validate-records.ts";
import { deleteVoucher, getVoucher, listVouchers, updateVoucher } from "./handlers/vouchers.ts";
import { blankLostReferences } from "./jobs/blank-lost-references.ts";
import { compactCounts } from "./jobs/compact-counts.ts";
import { mergeSearchIndex } from "./jobs/merge-search-index.ts";
import { releaseHolds } from "./jobs/release-holds.ts";
import { removeGoneEvents } from "./jobs/remove-gone-events.ts";
import { removeReservations } from "./jobs/remove-reservations.ts";
import { personalData } from "./personal-data.ts";
import { rebuildVouchers } from "./rebuilds/rebuild-vouchers.ts";
import { reportEvents } from "./report-events.ts";
import { accounts } from "./uses/accounts.ts";

/** Vouchers. A voucher that takes no capacity is created and changed even while everything else is down. */
export const voucher = defineService({
  name: "voucher",
  schema: "voucher",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [
    rpcs(Vouchers, { listVouchers, getVoucher, createVouchers, updateVoucher, deleteVoucher }),
    rpcs(VoucherShop, { checkVouchers, reserveVouchers, confirmReservation, releaseReservation }),
    rpcs(Records, { applyRecords, validateRecords }),
    personalData.rpcs,
  ],
  consumers: [
    eventChanged,
    subeventChanged,
    categoryChanged,
    itemChanged,
    quotaChanged,
    voucherUseChanged,
    personalData.consumer,
  ],
  jobs: [releaseHolds, removeGoneEvents, blankLostReferences, compactCounts, mergeSearchIndex, removeReservations],
  works: [personalData.work],
  holdings: personalData.holdings,
  rebuilds: [rebuildVouchers],
  accounts,
  start: async ({ db, reads, files, clock, log, clients: { capacity } }) => ({
    deps: { db, reads, files, clock, log, capacity, events: reportEvents({ log }) },
  }),
});
