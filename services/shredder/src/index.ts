import { removeNotedFiles } from "@tessera/kit/jobs/files-to-remove";
import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { Retention, Shredders } from "@tessera/protos/services";
import { clients } from "./clients.ts";
import { eventChanged } from "./consumers/event-changed.ts";
import { examinations } from "./examinations.ts";
import { findExport } from "./handlers/find-export.ts";
import { findShred } from "./handlers/find-shred.ts";
import { getCertificate, getCertificateKey } from "./handlers/get-certificate.ts";
import { listErased } from "./handlers/list-erased.ts";
import { listUpcoming } from "./handlers/list-upcoming.ts";
import { endRetention, findRetention, setRetention } from "./handlers/retentions.ts";
import { startExport } from "./handlers/start-export.ts";
import { startShred } from "./handlers/start-shred.ts";
import { applyRetention } from "./jobs/apply-retention.ts";
import { makeExports } from "./jobs/make-exports.ts";
import { removeExports } from "./jobs/remove-exports.ts";
import { shredEvents } from "./jobs/shred-events.ts";
import { rebuildRequests } from "./rebuilds/rebuild-requests.ts";
import { reportEvents } from "./report-events.ts";
import { findPublicKey } from "./store/signing-key.ts";

/** The export and the erasure of the personal data of events. */
export const shredder = defineService({
  name: "shredder",
  schema: "shredder",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [
    rpcs(Shredders, { startExport, findExport, startShred, findShred, getCertificate, getCertificateKey }),
    rpcs(Retention, { findRetention, setRetention, endRetention, listUpcoming, listErased }),
  ],
  consumers: [eventChanged],
  jobs: [removeExports, removeNotedFiles, applyRetention],
  works: [makeExports, shredEvents],
  rebuilds: [rebuildRequests],
  examinations,
  findPublicKey,
  start: async ({ db, files, clock, log, clients: called }) => ({
    deps: { db, files, clock, events: reportEvents({ log }), ...called },
  }),
});
