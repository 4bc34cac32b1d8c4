import { implement } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { AnswerFilesServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/answer_files";
import { CredentialsServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/credentials";
import { QuotasServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/quotas";
import { TicketsServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import { RecordsServiceService } from "@tessera/protos/gen/ticketing/records/v1/records";
import { topics } from "@tessera/protos/topics";
import { answersGiven } from "./consumers/answers-given.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import { createApiKey } from "./handlers/create-api-key.ts";
import { createDevice } from "./handlers/create-device.ts";
import { findOverbooked } from "./handlers/find-overbooked.ts";
import { findTickets } from "./handlers/find-tickets.ts";
import { getAnswerFile } from "./handlers/get-answer-file.ts";
import { listApiKeys } from "./handlers/list-api-keys.ts";
import { listDevices } from "./handlers/list-devices.ts";
import { revokeApiKey } from "./handlers/revoke-api-key.ts";
import { revokeDevice } from "./handlers/revoke-device.ts";
import { copyGateFiles } from "./jobs/copy-gate-files.ts";
import { removeAnswerFiles } from "./jobs/remove-answer-files.ts";
import { rebuilds } from "./records/rebuilds.ts";

/** Owns what everything else refers to: organizers, events, products, orders, keys and devices. */
export const boxoffice = defineService({
  name: "boxoffice",
  schema: "boxoffice",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  needs: [],
  consumes: [topics.answersGiven.name],
  rebuilds,
  async start({ db, files, clock, log }) {
    return {
      grpc: [
        implement(RecordsServiceService, { applyRecords: applyRecords({ db, files, log }) }),
        implement(CredentialsServiceService, {
          listApiKeys: listApiKeys({ db }),
          createApiKey: createApiKey({ db, log }),
          revokeApiKey: revokeApiKey({ db, log }),
          listDevices: listDevices({ db }),
          createDevice: createDevice({ db, log }),
          revokeDevice: revokeDevice({ db, log }),
        }),
        implement(QuotasServiceService, { findOverbooked: findOverbooked({ db }) }),
        implement(AnswerFilesServiceService, { getAnswerFile: getAnswerFile({ db, files }) }),
        implement(TicketsServiceService, { findTickets: findTickets({ db }) }),
      ],
      consumers: [answersGiven(db)],
      jobs: [copyGateFiles({ db, files, log }), removeAnswerFiles({ db, files, clock })],
    };
  },
});
