import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { eventFact, place, positionFact } from "../../testing/facts.ts";
import type { FeedLine } from "../../testing/feed-reader.ts";
import { type RunningCheckin, startCheckin } from "../../testing/start-checkin.ts";

const { organizer, event } = place;
const tickets = 1000;
const scans = 100;

/** Half of what a message may have. */
const mostBytes = 8 * 1024 * 1024;

let database: TestDatabase;
let checkin: RunningCheckin;
let lists: number[];

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  const ids = Array.from({ length: tickets }, (_, index) => index + 1);
  await checkin.deliver(
    topics.positionChanged,
    ids.map((id) => positionFact(id, { secret: `t${id}` })),
  );
  lists = [(await checkin.createList()).id, (await checkin.createList()).id];
  for (const list of lists) {
    await checkin.db.run(sql`
      insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, gate, device_id,
                        auto_checked_in)
      select ${organizer}, ${event}, nextval('scan_id'), ${list}, ticket, 'entry', true,
             timestamptz '2026-11-21 12:00:00.123456Z' - make_interval(secs => second), false, false, 1000000000001, 12, false
        from generate_series(1, ${tickets}::integer) as ticket
       cross join generate_series(1, ${scans}::integer) as second`);
    await checkin.db.run(sql`
      insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
      select ${organizer}, ${event}, ticket, ${list}, ${scans}, ${scans}, 'entry', timestamptz '2026-11-21 12:00:00Z'
        from generate_series(1, ${tickets}::integer) as ticket`);
  }
});
afterAll(() => database.drop());

/** Reads on to the end, in parts that fit in a message. */
async function readOn(from: string): Promise<{ presences: FeedLine[]; cursor: string }> {
  const presences: FeedLine[] = [];
  for (let after = from; ; ) {
    const part = await checkin.sync.readChanges(
      { organizer, mustExist: false, hashed: false, waitMs: 0, after },
      { timeoutMs: 20_000 },
    );
    expect(part.lines.length).toBeLessThan(mostBytes);
    const lines = Buffer.from(part.lines).toString().split("\n").slice(0, -1);
    presences.push(...lines.map((line) => JSON.parse(line) as FeedLine).filter(({ kind }) => kind === "presence"));
    after = part.cursor;
    if (part.isComplete) return { presences, cursor: after };
  }
}

it("[F1.1, F1.4] tickets with many scans come in parts that fit in a message, first and when they change", async () => {
  const copied = await readOn("");
  const names = copied.presences.map(({ id, list }) => `${id}/${list}`);
  expect(new Set(names).size).toBe(tickets * lists.length);
  const lengths = copied.presences.map(({ data }) => (Array.isArray(data?.scans) ? data.scans.length : 0));
  expect(new Set(lengths)).toEqual(new Set([scans]));
  await checkin.db.run(sql`update presence set entries = entries + 1`);
  const changed = await readOn(copied.cursor);
  expect(changed.presences.filter(({ deleted, data }) => deleted || data?.entries !== scans + 1)).toEqual([]);
  expect(new Set(changed.presences.map(({ id, list }) => `${id}/${list}`)).size).toBe(tickets * lists.length);
});
