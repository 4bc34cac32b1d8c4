import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { OfflineSales } from "@tessera/protos/services";
import { clients } from "./clients.ts";
import { eventChanged } from "./consumers/keep-copies.ts";
import { createBatch, findCreation, getBatch, listBatches } from "./handlers/batches.ts";
import { cancelBatch } from "./handlers/cancel-batch.ts";
import { findRendering } from "./handlers/find-rendering.ts";
import { renderBatch } from "./handlers/render-batch.ts";
import { cancelEndedSales } from "./jobs/cancel-ended.ts";
import { forgetRenderings } from "./jobs/forget-renderings.ts";
import { makeBatches } from "./jobs/make-batches.ts";
import { removeGoneEvents } from "./jobs/remove-gone-events.ts";
import { reportEvents } from "./report-events.ts";

/** Batches of tickets that are sold outside of the shop. */
export const offlineSales = defineService({
  name: "offline-sales",
  schema: "offline_sales",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [
    rpcs(OfflineSales, {
      ...{ listBatches, getBatch, createBatch, findCreation },
      ...{ renderBatch, findRendering, cancelBatch },
    }),
  ],
  consumers: [eventChanged],
  jobs: [forgetRenderings, removeGoneEvents],
  works: [makeBatches, cancelEndedSales],
  rebuilds: [],
  start: async ({ db, reads, log, clients: called }) => ({
    deps: { db, reads, events: reportEvents({ log }), ...called },
  }),
});
