import { rpcs } from "@tessera/kit/rpc";
import { defineService, type Server } from "@tessera/kit/service";
import {
  Alarms,
  CheckinLists,
  Doubles,
  FirstEntries,
  ListedPositions,
  Live,
  OrderCheckins,
  Records,
  ScanHistory,
  Scans,
  Sync,
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
import { acknowledgeAlarm, listAlarms, noteQueues } from "./handlers/alarms.ts";
import { annulScan } from "./handlers/annul-scan.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import {
  createCheckinList,
  deleteCheckinList,
  getCheckinList,
  listCheckinLists,
  updateCheckinList,
} from "./handlers/checkin-lists.ts";
import { countDoubles, explainDouble, getDouble, listDoubles, nextDoubles } from "./handlers/doubles/doubles.ts";
import { exportScans } from "./handlers/export-scans.ts";
import { findFirstEntries } from "./handlers/find-first-entries.ts";
import { findScanned } from "./handlers/find-scanned.ts";
import { findSharedIds } from "./handlers/find-shared-ids.ts";
import { getCheckinListStatus } from "./handlers/get-checkin-list-status.ts";
import { openListPlaces } from "./handlers/list-places.ts";
import { openLiveEvents, readLastHour, readLive } from "./handlers/live/read-live.ts";
import { findCheckins, findScannedSince } from "./handlers/order-checkins.ts";
import { getPosition, listPositions } from "./handlers/positions/positions-of-list.ts";
import { searchPositions } from "./handlers/positions/search-on-lists.ts";
import { recordFailedScan } from "./handlers/record-failed-scan.ts";
import { askBoxoffice } from "./handlers/redeem/ask-boxoffice.ts";
import { createCheckinReaders } from "./handlers/redeem/checkin-readers.ts";
import { linkMedia } from "./handlers/redeem/link-medium.ts";
import { openBatches, redeem, redeemOnLists } from "./handlers/redeem/redeem.ts";
import { redeemMany } from "./handlers/redeem/redeem-many.ts";
import { simulateScan } from "./handlers/redeem/simulate-scan.ts";
import { reportDay } from "./handlers/report-day.ts";
import { getScan, listScans } from "./handlers/scans.ts";
import { codeHashes } from "./handlers/sync/code-hashes.ts";
import { Followers } from "./handlers/sync/followers.ts";
import { readChanges } from "./handlers/sync/read-changes.ts";
import { openPacks, readPack } from "./handlers/sync/read-pack.ts";
import { validateRecords } from "./handlers/validate-records.ts";
import { compactCounts } from "./jobs/compact-counts.ts";
import { countPersons } from "./jobs/count-persons.ts";
import { exitDueLists } from "./jobs/exit-due-lists.ts";
import { forgetOldChanges } from "./jobs/forget-changes.ts";
import { forgetOldCodes } from "./jobs/forget-codes.ts";
import { mergeSearchIndex } from "./jobs/merge-search-index.ts";
import { raiseAlarms } from "./jobs/raise-alarms.ts";
import { workOnEndedScans } from "./jobs/remove-ended-scans.ts";
import { removeGoneEvents } from "./jobs/remove-gone-events.ts";
import { personalData } from "./personal-data.ts";
import { rebuildAlarms } from "./rebuilds/rebuild-alarms.ts";
import { rebuildAnswers } from "./rebuilds/rebuild-answers.ts";
import { rebuildScans } from "./rebuilds/rebuild-scans.ts";
import { reportEvents } from "./report-events.ts";
import { shown } from "./store/shown-rows.ts";

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
    rpcs(Scans, { redeem, redeemOnLists, redeemMany, simulateScan }),
    rpcs(ScanHistory, { recordFailedScan, listScans, exportScans, reportDay, getScan, findScanned, annulScan }),
    rpcs(Doubles, { listDoubles, nextDoubles, countDoubles, getDouble, explainDouble }),
    rpcs(FirstEntries, { findFirstEntries }),
    rpcs(OrderCheckins, { findScannedSince, findCheckins }),
    rpcs(Sync, { readChanges, readPack }),
    rpcs(Live, { readLive, readLastHour }),
    rpcs(Alarms, { listAlarms, acknowledgeAlarm, noteQueues }),
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
  jobs: [
    compactCounts,
    exitDueLists,
    countPersons,
    raiseAlarms,
    mergeSearchIndex,
    forgetOldCodes,
    forgetOldChanges,
    removeGoneEvents,
  ],
  works: [workOnEndedScans, personalData.work],
  holdings: personalData.holdings,
  shown,
  rebuilds: [rebuildScans, rebuildAnswers, rebuildAlarms],
  async start({ config, db, reads, urgent, files, clock, log, metrics, clients }) {
    const { refusedCodeDays } = config;
    const events = reportEvents({ log, metrics });
    const unknownTickets = askBoxoffice({
      tickets: clients.tickets,
      apply: (found) => applyFoundPositions(db, found),
      clock,
      events,
    });
    const readers = createCheckinReaders();
    const followers = new Followers(reads);
    const findCodeHash = codeHashes(db);
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
        metrics,
        events,
        readers,
        batches,
        unknownTickets,
        followers,
        findCodeHash,
        packs: openPacks({ reads, findCodeHash }),
        live: openLiveEvents(reads),
        linkMedia: linkMedia(clients.media),
        listPlaces: openListPlaces(urgent),
        refusedCodeDays,
      },
      servers: [endsWaits(followers)],
    };
  },
});

/** Readers of the feed wait for changes. They are answered before this process stops, and ask another one. */
function endsWaits(followers: Followers): Server {
  return {
    name: "feed",
    start: async () => {},
    leave: () => {},
    drain: async () => followers.stop(),
    stop: async () => followers.stop(),
  };
}
