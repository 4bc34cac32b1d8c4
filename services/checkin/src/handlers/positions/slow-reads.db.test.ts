import { roleOf } from "@tessera/kit/pg/provision";
import { openReads, type Reads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { afterAll, beforeAll, expect, it } from "vitest";
import { askOne, askPage } from "../../testing/ask-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, noon, place, positionFact } from "../../testing/facts.ts";
import { inWord, listFields, type RunningCheckin, scan, startCheckin } from "../../testing/start-checkin.ts";
import { untilLockWait } from "../../testing/until-lock-wait.ts";

let reads: Reads;
let checkin: RunningCheckin;

const { database } = await checkinDatabase();
beforeAll(async () => {
  reads = openReads({
    url: database.url,
    schema: "checkin",
    role: roleOf("checkin"),
    applicationName: "test-checkin",
    log: createLog({ service: "test", destination: { write: () => {} } }),
  });
  checkin = await startCheckin(database.open("checkin"), { reads });
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
});
afterAll(() => reads.close());

it("searches, lists and history wait for slow reads, and neither scans nor changes of lists do", async () => {
  const list = (await checkin.createList()).id;
  expect(inWord(await checkin.redeem(scan(list, "secret1")))).toBe("admitted");
  const page = { ...place, page: 1, pageSize: 50, ordering: [] };
  const [first] = (await checkin.history.listScans({ ...page, type: ScanType.UNSPECIFIED })).scans;

  const stopper = await checkin.db.dedicated();
  await stopper.run(sql`select pg_advisory_lock(7)`);
  const slow = Array.from({ length: 4 }, (_, index) =>
    reads.inTurn(`${place.organizer}${index % 2}`, (db) => db.run(sql`select pg_advisory_xact_lock_shared(7)`)),
  );
  await untilLockWait(checkin.db);
  const answered: string[] = [];
  const asked = Object.entries({
    listCheckinLists: checkin.lists.listCheckinLists({ ...page, withCounts: true }),
    getCheckinList: checkin.lists.getCheckinList({ ...place, id: list }),
    getCheckinListStatus: checkin.lists.getCheckinListStatus({ ...place, id: list }),
    listPositions: askPage({ checkin, list }, { search: "visitor" }),
    getPosition: askOne({ checkin, list }, 1),
    listScans: checkin.history.listScans({ ...page, type: ScanType.UNSPECIFIED }),
    getScan: checkin.history.getScan({ ...place, id: first?.checkin?.id ?? 0 }),
  }).map(async ([name, answer]) => {
    await answer;
    answered.push(name);
  });

  expect(inWord(await checkin.redeem(scan(list, "secret2")))).toBe("admitted");
  const fields = listFields({ name: "Side door" });
  expect((await checkin.lists.updateCheckinList({ ...place, id: list, fields, updateMask: ["name"] })).list?.id).toBe(
    list,
  );
  const failed = {
    reason: "error",
    explanation: "",
    rawCode: "x",
    sourceType: "barcode",
    at: noon,
    type: ScanType.ENTRY,
  };
  await checkin.history.recordFailedScan({ ...place, list, scan: failed });
  expect(answered).toEqual([]);

  await stopper.release();
  await Promise.all([...slow, ...asked]);
  expect(answered).toHaveLength(7);
});
