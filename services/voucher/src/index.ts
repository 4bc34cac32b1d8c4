import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { Records, Vouchers } from "@tessera/protos/services";
import { clients } from "./clients.ts";
import { categoryChanged, eventChanged, itemChanged, quotaChanged, subeventChanged } from "./consumers/copies.ts";
import { reportEvents } from "./events.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import { createVouchers } from "./handlers/create-vouchers.ts";
import { deleteVoucher } from "./handlers/delete-voucher.ts";
import { getVoucher } from "./handlers/get-voucher.ts";
import { listVouchers } from "./handlers/list-vouchers.ts";
import { updateVoucher } from "./handlers/update-voucher.ts";
import { releaseHolds } from "./jobs/release-holds.ts";
import { rebuildVouchers } from "./rebuilds/rebuild-vouchers.ts";

/** Vouchers. Those that take no capacity are created and changed while everything else is down. */
export const voucher = defineService({
  name: "voucher",
  schema: "voucher",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [
    rpcs(Vouchers, { listVouchers, getVoucher, createVouchers, updateVoucher, deleteVoucher }),
    rpcs(Records, { applyRecords }),
  ],
  consumers: [eventChanged, subeventChanged, categoryChanged, itemChanged, quotaChanged],
  jobs: [releaseHolds],
  rebuilds: [rebuildVouchers],
  start: async ({ db, reads, files, clock, log, metrics, clients: { capacity } }) => ({
    deps: { db, reads, files, clock, log, capacity, events: reportEvents({ log, metrics }) },
  }),
});
