import { createReaders } from "@tessera/admission";
import type { Job } from "@tessera/kit/jobs/interval";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import type { CheckinListFields } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, expect } from "vitest";
import { exitDueLists } from "../jobs/exit-due-lists.ts";
import { reportEvents } from "../report-events.ts";
import { eventFact, itemFact, minute, noon, place, positionFact, subeventFact } from "./facts.ts";
import { recount } from "./recount.ts";
import { inWord, type RunningCheckin, scan, startCheckin } from "./start-checkin.ts";

export const hour = 60 * minute;
export const day = 24 * hour;
/** Everything is due an hour after noon, and handled an hour later. */
export const due = noon + hour;

/** Starts check-in for a test file about automatic exits. */
export function automaticExits() {
  let database: TestDatabase;
  let checkin: RunningCheckin;
  let db: Db;

  beforeAll(async () => {
    database = await createTestDatabase([
      { schema: "checkin", migrations: new URL("../../migrations/", import.meta.url) },
    ]);
    db = database.open("checkin");
    checkin = await startCheckin(db);
  });
  afterAll(() => database.drop());
  beforeEach(async () => {
    await checkin.reset();
    await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true })]);
    await checkin.deliver(topics.itemChanged, [itemFact(10), itemFact(11)]);
    await checkin.deliver(topics.subeventChanged, [subeventFact(1), subeventFact(2)]);
    checkin.clock.at = due + hour;
  });

  return {
    get checkin() {
      return checkin;
    },
    get db() {
      return db;
    },
    dueList: async (fields: Partial<CheckinListFields> = {}) =>
      (await checkin.createList({ exitAllAt: due, allowMultipleEntries: true, ...fields })).id,
    sell: (...ids: number[]) =>
      checkin.deliver(
        topics.positionChanged,
        ids.map((id) => positionFact(id)),
      ),
    enter: async (list: number, position: number, at: number) =>
      expect(inWord(await checkin.redeem(scan(list, `secret${position}`, { at })))).toBe("admitted"),
    leave: async (list: number, position: number, at: number) =>
      expect(inWord(await checkin.redeem(scan(list, `secret${position}`, { at, type: "SCAN_TYPE_EXIT" })))).toBe(
        "admitted",
      ),
    handle: () => checkin.runJob("exit-due-lists"),
    /** The stored automatic exits, as position and instant. */
    async exits() {
      const rows = await db.many<{ position: number; at: number }>(sql`
        select scan.position, scan.at
          from scan
         where scan.auto_checked_in
         order by scan.position, scan.at`);
      return rows.map(({ position, at }) => [position, at]);
    },
    exitAllAt: async (id: number) => (await checkin.lists.getCheckinList({ ...place, id })).list?.fields?.exitAllAt,
    async expectTrueCounts() {
      const { counted, recounted } = await recount(db);
      expect(counted).toEqual(recounted);
    },
    /** Another replica, whose database may be stubbed; it handles two tickets at a time. */
    replica(changes: Partial<Db> = {}, { storedAtOnce = 1 } = {}): Job {
      const log = createLog({ service: "checkin", destination: { write: () => {} } });
      const events = reportEvents({ log, metrics: createMetrics() });
      return exitDueLists({
        db: { ...db, ...changes },
        clock: { now: checkin.clock.now },
        readers: createReaders(),
        events,
        ticketsAtATime: 2,
        storedAtOnce,
        searchedAtOnce: 2,
      });
    },
  };
}

export const run = (job: Job) => job.run(new AbortController().signal);
