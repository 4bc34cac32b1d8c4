import { rpcs } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import {
  CheckinLists,
  FirstEntries,
  ListedPositions,
  OrderCheckins,
  Records,
  ScanHistory,
  Scans,
} from "@tessera/protos/services";
import { clients } from "./clients.ts";
import { settings } from "./config.ts";
import { blockedSecretChanged } from "./consumers/blocked-secret-changed.ts";
import { categoryChanged } from "./consumers/category-changed.ts";
import { eventChanged } from "./consumers/event-changed.ts";
import { itemChanged } from "./consumers/item-changed.ts";
import { applyFoundPositions, positionChanged } from "./consumers/position-changed.ts";
import { questionChanged } from "./consumers/question-changed.ts";
import { reusableMediumChanged } from "./consumers/reusable-medium-changed.ts";
import { revokedSecretChanged } from "./consumers/revoked-secret-changed.ts";
import { subeventChanged } from "./consumers/subevent-changed.ts";
import { voucherChanged } from "./consumers/voucher-changed.ts";
import { annulScan } from "./handlers/annul-scan.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import {
  createCheckinList,
  deleteCheckinList,
  getCheckinList,
  listCheckinLists,
  updateCheckinList,
} from "./handlers/checkin-lists.ts";
import { findFirstEntries } from "./handlers/find-first-entries.ts";
import { findScanned } from "./handlers/find-scanned.ts";
import { findSharedIds } from "./handlers/find-shared-ids.ts";
import { getCheckinListStatus } from "./handlers/get-checkin-list-status.ts";
import { getScan } from "./handlers/get-scan.ts";
import { openListPlaces } from "./handlers/list-places.ts";
import { listScans } from "./handlers/list-scans.ts";
import { findCheckins, findScannedSince } from "./handlers/order-checkins.ts";
import { getPosition } from "./handlers/positions/get-position.ts";
import { listPositions } from "./handlers/positions/list-positions.ts";
import { searchPositions } from "./handlers/positions/search-on-lists.ts";
import { recordFailedScan } from "./handlers/record-failed-scan.ts";
import { askBoxoffice } from "./handlers/redeem/ask-boxoffice.ts";
import { linkMedia } from "./handlers/redeem/link-medium.ts";
import { openBatches, redeem, redeemOnLists } from "./handlers/redeem/redeem.ts";
import { simulateScan } from "./handlers/redeem/simulate-scan.ts";
import { validateRecords } from "./handlers/validate-records.ts";
import { compactCounts } from "./jobs/compact-counts.ts";
import { exitDueLists } from "./jobs/exit-due-lists.ts";
import { forgetOldCodes } from "./jobs/forget-codes.ts";
import { mergeSearchIndex } from "./jobs/merge-search-index.ts";
import { removeGoneEvents } from "./jobs/remove-gone-events.ts";
import { personalData } from "./personal-data.ts";
import { createReaders } from "./readers.ts";
import { rebuildAnswers } from "./rebuilds/rebuild-answers.ts";
import { rebuildScans } from "./rebuilds/rebuild-scans.ts";
import { reportEvents } from "./report-events.ts";

/** Check-in lists and scans. Gates admit while everything else is down: boxoffice is asked only for unknown codes. */
export const checkin = defineService({
  name: "checkin",
  schema: "checkin",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  clients,
  rpcs: [
    rpcs(CheckinLists, {
      listCheckinLists,
      getCheckinList,
      createCheckinList,
      updateCheckinList,
      deleteCheckinList,
      getCheckinListStatus,
      findSharedIds,
    }),
    rpcs(ListedPositions, { listPositions, getPosition, searchPositions }),
    rpcs(Scans, { redeem, redeemOnLists, simulateScan }),
    rpcs(ScanHistory, { recordFailedScan, listScans, getScan, findScanned, annulScan }),
    rpcs(FirstEntries, { findFirstEntries }),
    rpcs(OrderCheckins, { findScannedSince, findCheckins }),
    rpcs(Records, { applyRecords, validateRecords }),
    personalData.rpcs,
  ],
  consumers: [
    eventChanged,
    subeventChanged,
    categoryChanged,
    itemChanged,
    questionChanged,
    positionChanged,
    revokedSecretChanged,
    blockedSecretChanged,
    reusableMediumChanged,
    voucherChanged,
    personalData.consumer,
  ],
  jobs: [compactCounts, exitDueLists, mergeSearchIndex, forgetOldCodes, removeGoneEvents],
  works: [personalData.work],
  holdings: personalData.holdings,
  rebuilds: [rebuildScans, rebuildAnswers],
  async start({ config, db, reads, urgent, files, clock, log, metrics, clients }) {
    const { refusedCodeDays } = config;
    const events = reportEvents({ log, metrics });
    const unknownTickets = askBoxoffice({
      tickets: clients.tickets,
      apply: (found) => applyFoundPositions(db, found),
      clock,
      events,
    });
    const readers = createReaders();
    const batches = openBatches({
      urgent,
      events,
      readers,
      atOnce: config.redeemBatches,
      batchSize: config.redeemBatchSize,
      mostPerSecond: config.redeemPerSecond || undefined,
      longestQueue: config.redeemQueue,
    });
    return {
      deps: {
        db,
        reads,
        urgent,
        files,
        clock,
        log,
        events,
        readers,
        batches,
        unknownTickets,
        linkMedia: linkMedia(clients.media),
        listPlaces: openListPlaces(urgent),
        refusedCodeDays,
      },
    };
  },
});
