import { implement } from "@tessera/kit/rpc";
import { defineService } from "@tessera/kit/service";
import { TicketsServiceService } from "@tessera/protos/gen/ticketing/boxoffice/v1/tickets";
import { ScanHistoryServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { CheckinListsServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { ListedPositionsServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { ScansServiceService } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { RecordsServiceService } from "@tessera/protos/gen/ticketing/records/v1/records";
import { topics } from "@tessera/protos/topics";
import { settings } from "./config.ts";
import { blockedSecretChanged } from "./consumers/blocked-secret-changed.ts";
import { categoryChanged } from "./consumers/category-changed.ts";
import { eventChanged } from "./consumers/event-changed.ts";
import { itemChanged } from "./consumers/item-changed.ts";
import { positionChanged, takeOverPositions } from "./consumers/position-changed.ts";
import { questionChanged } from "./consumers/question-changed.ts";
import { reusableMediumChanged } from "./consumers/reusable-medium-changed.ts";
import { revokedSecretChanged } from "./consumers/revoked-secret-changed.ts";
import { subeventChanged } from "./consumers/subevent-changed.ts";
import { reportEvents } from "./events.ts";
import { applyRecords } from "./handlers/apply-records.ts";
import { createCheckinList } from "./handlers/create-checkin-list.ts";
import { deleteCheckinList } from "./handlers/delete-checkin-list.ts";
import { getCheckinList } from "./handlers/get-checkin-list.ts";
import { getCheckinListStatus } from "./handlers/get-checkin-list-status.ts";
import { getPosition } from "./handlers/get-position.ts";
import { getScan } from "./handlers/get-scan.ts";
import { listCheckinLists } from "./handlers/list-checkin-lists.ts";
import { listPositions } from "./handlers/list-positions.ts";
import { listScans } from "./handlers/list-scans.ts";
import { recordFailedScan } from "./handlers/record-failed-scan.ts";
import { askBoxoffice } from "./handlers/redeem/ask-boxoffice.ts";
import { openLanes, redeem } from "./handlers/redeem/redeem.ts";
import { updateCheckinList } from "./handlers/update-checkin-list.ts";
import { compactCounts } from "./jobs/compact-counts.ts";
import { exitDueLists } from "./jobs/exit-due-lists.ts";
import { keepSearchMerged } from "./jobs/merge-search-index.ts";
import { rebuildAnswers } from "./rebuilds/rebuild-answers.ts";
import { rebuildScans } from "./rebuilds/rebuild-scans.ts";

/** Check-in lists, and who came in. Gates admit while everything else is down: boxoffice is asked for unknown codes alone. */
export const checkin = defineService({
  name: "checkin",
  schema: "checkin",
  settings,
  migrations: new URL("../migrations/", import.meta.url),
  needs: ["boxoffice"],
  consumes: [
    topics.eventChanged.name,
    topics.subeventChanged.name,
    topics.categoryChanged.name,
    topics.itemChanged.name,
    topics.questionChanged.name,
    topics.positionChanged.name,
    topics.revokedSecretChanged.name,
    topics.blockedSecretChanged.name,
    topics.reusableMediumChanged.name,
  ],
  rebuilds: [rebuildScans, rebuildAnswers],
  async start({ config, db, reads, clock, log, metrics, peer }) {
    const events = reportEvents({ log, metrics });
    const unknownTickets = askBoxoffice({
      tickets: peer("boxoffice", TicketsServiceService),
      apply: (found) => takeOverPositions(db, found),
      events,
    });
    const lanes = openLanes({
      db,
      events,
      lanes: config.redeemLanes,
      batchSize: config.redeemBatch,
      longestQueue: config.redeemQueue,
    });
    return {
      grpc: [
        implement(CheckinListsServiceService, {
          listCheckinLists: (request) => listCheckinLists(reads, request),
          getCheckinList: (request) => getCheckinList(reads, request),
          createCheckinList: (request) => createCheckinList({ db, events }, request),
          updateCheckinList: (request) => updateCheckinList({ db, events }, request),
          deleteCheckinList: (request) => deleteCheckinList({ db, events }, request),
          getCheckinListStatus: (request) => getCheckinListStatus(reads, request),
        }),
        implement(ListedPositionsServiceService, {
          listPositions: (request) => listPositions({ db: reads, clock }, request),
          getPosition: (request) => getPosition({ db: reads, clock }, request),
        }),
        implement(ScansServiceService, {
          redeem: (request, call) => redeem(request, { db, clock, events, lanes, unknownTickets }, call),
        }),
        implement(ScanHistoryServiceService, {
          recordFailedScan: (request) => recordFailedScan({ db, clock, events }, request),
          listScans: (request) => listScans(reads, request),
          getScan: (request) => getScan(reads, request),
        }),
        implement(RecordsServiceService, { applyRecords: (request) => applyRecords({ db, events }, request) }),
      ],
      consumers: [
        eventChanged(db),
        subeventChanged(db),
        categoryChanged(db),
        itemChanged(db),
        questionChanged(db),
        positionChanged(db),
        revokedSecretChanged(db),
        blockedSecretChanged(db),
        reusableMediumChanged(db),
      ],
      jobs: [compactCounts(db, events), exitDueLists({ db, clock, events }), keepSearchMerged(db)],
    };
  },
});
