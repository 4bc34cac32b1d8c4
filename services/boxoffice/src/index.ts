import { implement } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { RecordsServiceService } from "@tessera/protos/gen/ticketing/records/v1/records";
import { applyRecords } from "./handlers/apply-records.ts";
import { rebuilds } from "./records/rebuilds.ts";

/** Owns what everything else refers to: organizers, events, products, orders, keys and devices. */
export const boxoffice = defineService({
  name: "boxoffice",
  schema: "boxoffice",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  needs: [],
  consumes: [],
  rebuilds,
  async start({ db, log }) {
    return { grpc: [implement(RecordsServiceService, { applyRecords: applyRecords({ db, log }) })] };
  },
});
