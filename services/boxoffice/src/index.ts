import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import {
  AnswerFiles,
  Capacity,
  Catalogue,
  Credentials,
  Devices,
  Media,
  Orders,
  Quotas,
  Records,
  Sales,
  Shredding,
  TicketData,
  Tickets,
} from "@tessera/protos/services";
import { accounts } from "./accounts.ts";
import { clients } from "./clients.ts";
import { answersGiven } from "./consumers/answers-given.ts";
import { voucherChanged } from "./consumers/voucher-changed.ts";
import { getAnswerFile, getAnswerFiles } from "./handlers/answer-files.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import { cancelSale } from "./handlers/cancel-sale.ts";
import { getDocument, listDocuments } from "./handlers/catalogue.ts";
import { createCredential, listCredentials, revokeCredential } from "./handlers/credentials.ts";
import { getDevice, initializeDevice, rollDevice, shareDeviceChanges, updateDevice } from "./handlers/devices.ts";
import { findAmbiguousSecrets } from "./handlers/find-ambiguous-secrets.ts";
import { findOrganizer } from "./handlers/find-organizer.ts";
import { findOverbooked } from "./handlers/find-overbooked.ts";
import { findReadiness, listEnding } from "./handlers/find-readiness.ts";
import { findTickets } from "./handlers/find-tickets.ts";
import { holdCapacity, shareHolds } from "./handlers/hold-capacity.ts";
import { linkMedium } from "./handlers/link-medium.ts";
import { getOrderPosition, listOrderPositions } from "./handlers/order-positions.ts";
import { getOrder, listOrders } from "./handlers/orders.ts";
import { findPrints, recordPrint } from "./handlers/prints.ts";
import { readTicketData } from "./handlers/read-ticket-data.ts";
import { releaseCapacity } from "./handlers/release-capacity.ts";
import { sellTickets } from "./handlers/sell-tickets.ts";
import { tellVouchers } from "./handlers/tell-vouchers.ts";
import { validateRecords } from "./handlers/validate-records.ts";
import { copyGateFiles } from "./jobs/copy-gate-files.ts";
import { forgetHolds } from "./jobs/forget-holds.ts";
import { removeAnswerFiles } from "./jobs/remove-answer-files.ts";
import { removeEvents } from "./jobs/remove-events.ts";
import { personalData } from "./personal-data.ts";
import { rebuilds } from "./rebuilds/all-rebuilds.ts";
import { reportEvents } from "./report-events.ts";
import { shown } from "./store/shown-rows.ts";

/** Owns the entities that other services refer to: organizers, events, products, orders, keys and devices. */
export const boxoffice = defineService({
  name: "boxoffice",
  schema: "boxoffice",
  settings: {},
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [
    rpcs(Records, { applyRecords, validateRecords }),
    rpcs(Credentials, { listCredentials, createCredential, revokeCredential }),
    rpcs(Catalogue, { listDocuments, getDocument }),
    rpcs(Devices, { initializeDevice, getDevice, updateDevice, rollDevice }),
    rpcs(Orders, { listOrders, getOrder, listOrderPositions, getOrderPosition, recordPrint, findPrints }),
    rpcs(Media, { linkMedium }),
    rpcs(Quotas, { findOverbooked }),
    rpcs(Capacity, { holdCapacity, releaseCapacity, tellVouchers }),
    rpcs(Sales, { sellTickets, cancelSale }),
    rpcs(AnswerFiles, { getAnswerFile, getAnswerFiles }),
    rpcs(Tickets, { findTickets, findAmbiguousSecrets }),
    rpcs(TicketData, { readTicketData }),
    rpcs(Shredding, { findReadiness, listEnding, findOrganizer }),
    personalData.rpcs,
  ],
  consumers: [answersGiven, voucherChanged, personalData.consumer],
  jobs: [removeAnswerFiles, forgetHolds],
  works: [copyGateFiles, removeEvents, personalData.work],
  holdings: personalData.holdings,
  rebuilds,
  accounts,
  shown,
  start: async ({ db, reads, files, clock, log, metrics }) => ({
    deps: {
      db,
      reads,
      files,
      clock,
      log,
      events: reportEvents({ log, metrics }),
      holdTurns: shareHolds(),
      deviceTurns: shareDeviceChanges(),
    },
  }),
});
