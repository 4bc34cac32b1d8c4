import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { clients } from "./clients.ts";

/** Vouchers, their uses and budgets. */
export const voucher = defineService({
  name: "voucher",
  schema: "voucher",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [],
  consumers: [],
  jobs: [],
  start: async ({ db }) => ({ deps: { db } }),
});
void rpcs;
