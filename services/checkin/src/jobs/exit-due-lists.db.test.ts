import { setTimeout as sleep } from "node:timers/promises";
import { type Job, runJobs } from "@tessera/kit/jobs/interval";
import { createLog } from "@tessera/kit/log";
import { createMetrics } from "@tessera/kit/metrics";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { ScanDecided } from "@tessera/protos/gen/ticketing/checkin/v1/facts";
import type { CheckinListFields } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { reportEvents } from "../events.ts";
import { createReaders } from "../readers.ts";
import { eventFact, itemFact, minute, noon, order, place, positionFact, subeventFact } from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { inWord, listFields, type RunningCheckin, scan, startCheckin } from "../testing/start-checkin.ts";
import { exitDueLists } from "./exit-due-lists.ts";

const hour = 60 * minute;
const day = 24 * hour;
/** Everything is due an hour after noon, and handled an hour later. */
const due = noon + hour;

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

const dueList = async (fields: Partial<CheckinListFields> = {}) =>
  (await checkin.createList({ exitAllAt: due, allowMultipleEntries: true, ...fields })).id;
const sell = (...ids: number[]) =>
  checkin.deliver(
    topics.positionChanged,
    ids.map((id) => positionFact(id)),
  );
const enter = async (list: number, position: number, at: number) =>
  expect(inWord(await checkin.redeem(scan(list, `secret${position}`, { at })))).toBe("admitted");
const leave = async (list: number, position: number, at: number) =>
  expect(inWord(await checkin.redeem(scan(list, `secret${position}`, { at, type: "SCAN_TYPE_EXIT" })))).toBe(
    "admitted",
  );
const handle = () => checkin.runJob("exit-due-lists");

/** The automatic exits that are stored, as position and instant. */
const exits = async () => {
  const rows = await db.many<{ position: number; at: number }>(sql`
    select scan.position, scan.at
      from scan
     where scan.auto_checked_in
     order by scan.position, scan.at`);
  return rows.map(({ position, at }) => [position, at]);
};
const exitAllAt = async (id: number) => (await checkin.lists.getCheckinList({ ...place, id })).list?.fields?.exitAllAt;
const insideCount = async (id: number) => (await checkin.lists.getCheckinListStatus({ ...place, id })).insideCount;
const expectTrueCounts = async () => {
  const { counted, recounted } = await recount(db);
  expect(counted).toEqual(recounted);
};

/** Another replica, with its own idea of what the database answers; it handles two tickets at a time. */
const replica = (changes: Partial<Db> = {}, { storedAtOnce = 1 } = {}) => {
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
};

/** One that believes it is alone. */
const rival = () =>
  replica(
    {
      async dedicated() {
        const connection = await db.dedicated();
        return { ...connection, one: async <Row>() => ({ leads: true }) as Row };
      },
    },
    { storedAtOnce: 3 },
  );

const run = (job: Job) => job.run(new AbortController().signal);

describe("the automatic exit", () => {
  it("[C7.1, C7.5] stores one scan for each ticket that is inside at that instant", async () => {
    const id = await dueList();
    await sell(1, 2, 3);
    await enter(id, 1, due - hour);
    await enter(id, 2, due - hour);
    await leave(id, 2, due - minute);
    await handle();
    expect(await exits()).toEqual([[1, due]]);
    const { position } = await checkin.positions.getPosition({ ...place, list: id, id: 1, ignoreStatus: false });
    expect(position?.checkins[0]).toMatchObject({ type: "SCAN_TYPE_EXIT", at: due, autoCheckedIn: true });
    expect(position?.checkins[0]?.gate).toBeUndefined();
    expect(position?.checkins[0]?.device).toBeUndefined();
    expect(position?.checkins[0]?.deviceId).toBeUndefined();
    expect(await exitAllAt(id)).toBe(due + day);
    await handle();
    expect(await exits()).toHaveLength(1);
  });

  it("[C7.1] follows within 15 seconds by itself", async () => {
    const id = await dueList();
    await sell(1);
    await enter(id, 1, due - hour);
    const log = createLog({ service: "checkin", destination: { write: () => {} } });
    const started = performance.now();
    const jobs = runJobs([replica()], log);
    while ((await exits()).length === 0 && performance.now() - started < 15_000) await sleep(20);
    await jobs.stop();
    expect(await exits()).toEqual([[1, due]]);
  });

  it("[C7.1] does not come early", async () => {
    const id = await dueList();
    await sell(1);
    await enter(id, 1, due - hour);
    checkin.clock.at = due - 1;
    await handle();
    expect(await exits()).toEqual([]);
    checkin.clock.at = due;
    await handle();
    expect(await exits()).toEqual([[1, due]]);
  });

  it("[C7.2] counts and is published like any other scan", async () => {
    const id = await dueList();
    await sell(1, 2);
    await enter(id, 1, due - hour);
    await enter(id, 2, due - hour);
    expect(await insideCount(id)).toBe(2);
    await db.run(sql`delete from outbox`);
    await handle();
    expect(await insideCount(id)).toBe(0);
    await expectTrueCounts();
    const facts = await db.many<{ topic: string; payload: Buffer }>(sql`
      select outbox.topic, outbox.payload
        from outbox
       order by outbox.id`);
    expect(facts.map(({ topic }) => topic)).toEqual([topics.scanDecided.name, topics.scanDecided.name]);
    const published = facts.map(({ payload }) => ScanDecided.decode(payload));
    expect(published).toMatchObject([
      { ...place, list: id, position: 1, type: "SCAN_TYPE_EXIT", successful: true, at: due },
      { ...place, list: id, position: 2, type: "SCAN_TYPE_EXIT", successful: true, at: due },
    ]);
    const kept = await db.many<{ id: number }>(
      sql`select scan.id from scan where scan.auto_checked_in order by scan.id`,
    );
    expect(published.map((fact) => fact.scan).sort()).toEqual(kept.map((row) => row.id).sort());
  });

  it("[C7.3] comes whatever the state of the order is", async () => {
    const id = await dueList();
    await sell(1, 2, 3, 4);
    for (const position of [1, 2, 3, 4]) await enter(id, position, due - hour);
    const newer = { revision: 2 };
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { order: order({ status: "ORDER_STATUS_CANCELED" }) }, newer),
      positionFact(2, { canceled: true }, newer),
      positionFact(3, { order: order({ status: "ORDER_STATUS_EXPIRED" }) }, newer),
      `${place.organizer}/${place.event}/4`,
    ]);
    await handle();
    expect(await exits()).toEqual([
      [1, due],
      [2, due],
      [3, due],
    ]);
    await expectTrueCounts();
  });

  it("[C7.3] ignores tickets that are no longer on the list", async () => {
    const limited = await dueList({ allProducts: false, limitProducts: [10] });
    const dated = await dueList({ subevent: 1 });
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { subevent: 1 }),
      positionFact(2, { subevent: 1 }),
      positionFact(3, { subevent: 1 }),
    ]);
    for (const position of [1, 2, 3]) for (const list of [limited, dated]) await enter(list, position, due - hour);
    await checkin.deliver(topics.positionChanged, [
      positionFact(2, { subevent: 2 }, { revision: 2 }),
      positionFact(3, { subevent: 1, item: 11 }, { revision: 2 }),
    ]);
    await handle();
    const left = await db.many<{ list: number; position: number }>(sql`
      select scan.list, scan.position from scan where scan.auto_checked_in order by scan.list, scan.position`);
    expect(left).toEqual([
      { list: limited, position: 1 },
      { list: limited, position: 2 },
      { list: dated, position: 1 },
      { list: dated, position: 3 },
    ]);
    await expectTrueCounts();
  });

  it("[C7.4] undoes no entry of the same instant or later", async () => {
    const id = await dueList();
    await sell(1, 2, 3, 4, 5);
    await enter(id, 1, due);
    for (const position of [2, 3, 4, 5]) await enter(id, position, due - hour);
    await enter(id, 2, due + 1);
    await leave(id, 3, due + 1);
    await leave(id, 4, due - 1);
    await enter(id, 4, due + 1);
    // Among equals the last to arrive counts, and the exit arrives last.
    await enter(id, 5, due);
    await handle();
    expect(await exits()).toEqual([
      [2, due],
      [3, due],
      [5, due],
    ]);
    expect(await insideCount(id)).toBe(3);
    await enter(id, 5, due);
    expect(await insideCount(id)).toBe(4);
    await expectTrueCounts();
  });

  it("[C7.6] comes once for an instant, though the instant is set again", async () => {
    const id = await dueList();
    await sell(1, 2);
    await enter(id, 1, due - hour);
    await handle();
    await enter(id, 2, due - hour);
    for (const position of [1, 2]) await enter(id, position, due);
    const fields = { ...(await checkin.lists.getCheckinList({ ...place, id })).list?.fields, exitAllAt: due };
    await checkin.lists.updateCheckinList({
      ...place,
      id,
      fields: fields as CheckinListFields,
      updateMask: ["exit_all_at"],
    });
    await handle();
    expect(await exits()).toEqual([
      [1, due],
      [2, due],
    ]);
    await expectTrueCounts();
  });

  it("[C7.6] comes once, wherever the process is killed and another one goes on", async () => {
    const id = await dueList();
    const tickets = [1, 2, 3, 4, 5, 6, 7];
    await sell(...tickets);
    for (const position of tickets) await enter(id, position, due - hour);
    let isOver = false;
    for (let statements = 1; !isOver; statements += 1) {
      expect(statements).toBeLessThan(50);
      let left = statements;
      // What its last statement did is done, but the process never learns of it.
      const untilKilled =
        <A extends unknown[], R>(statement: (...sent: A) => Promise<R>) =>
        async (...sent: A): Promise<R> => {
          left -= 1;
          if (left >= 0) {
            const answer = await statement(...sent);
            if (left > 0) return answer;
          }
          throw new Error("killed");
        };
      const mortal = replica({ many: untilKilled(db.many) as Db["many"], run: untilKilled(db.run) });
      const end = await run(mortal).catch((error: Error) => error.message);
      expect(["killed", undefined]).toContain(end);
      isOver = end === undefined;
      expect(new Set((await exits()).map(([position]) => position)).size).toBe((await exits()).length);
      await expectTrueCounts();
    }
    expect(await exits()).toEqual(tickets.map((position) => [position, due]));
    expect(await exitAllAt(id)).toBe(due + day);
    const facts = await db.many(sql`select outbox.fact_id from outbox where outbox.topic = ${topics.scanDecided.name}`);
    expect(facts).toHaveLength(2 * tickets.length);
  });

  it("[C7.6] comes once, though several processes handle it while the gates scan", async () => {
    const id = await dueList();
    const tickets = Array.from({ length: 60 }, (_, index) => index + 1);
    await sell(...tickets);
    await checkin.redeemAll(tickets.map((position) => scan(id, `secret${position}`, { at: due - hour })));
    const scanSome = async (at: number) => {
      for (const position of tickets) {
        const type = position % 3 === 0 ? "SCAN_TYPE_EXIT" : "SCAN_TYPE_ENTRY";
        await checkin.redeem(scan(id, `secret${position}`, { at, type }));
      }
    };
    await Promise.all([run(rival()), run(rival()), run(rival()), scanSome(due), scanSome(due + minute)]);
    expect(await exits()).toEqual(tickets.map((position) => [position, due]));
    expect(await insideCount(id)).toBe(40);
    await expectTrueCounts();
    const wrong = await db.many(sql`
      select presence.position
        from presence
       where presence.version <> (select count(*) from scan where scan.position = presence.position and scan.successful)`);
    expect(wrong).toEqual([]);
  });

  it("[C7.1] comes to no ticket that was deleted with its scans and created again meanwhile", async () => {
    const id = await dueList();
    await sell(1, 2);
    for (const position of [1, 2]) await enter(id, position, due - hour);
    let looks = 0;
    const changing = replica({
      async many<Row>(statement: Parameters<Db["many"]>[0]) {
        const rows = await db.many<Row>(statement);
        // Twice lists are looked for, then tickets.
        looks += 1;
        if (looks === 3) {
          await checkin.deliver(topics.positionChanged, [`${place.organizer}/${place.event}/1`, positionFact(1)]);
        }
        return rows;
      },
    });
    await run(changing);
    expect(await exits()).toEqual([[2, due]]);
    const presences = await db.many<{ position: number }>(sql`select presence.position from presence`);
    expect(presences).toEqual([{ position: 2 }]);
    await expectTrueCounts();
  });

  it("skips a ticket that another transaction locks, and retries it", async () => {
    const id = await dueList();
    await sell(1, 2, 3, 4, 5);
    for (const position of [1, 2, 3, 4, 5]) await enter(id, position, due - hour);
    const handling = await db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id in (2, 3) for update`);
      const job = run(replica());
      while ((await exits()).length < 3) await sleep(5);
      expect(await exits()).toEqual([1, 4, 5].map((position) => [position, due]));
      expect(await exitAllAt(id)).toBe(due);
      return { job };
    });
    await handling.job;
    // It may have given up waiting, until its next turn.
    await handle();
    expect(await exits()).toEqual([1, 2, 3, 4, 5].map((position) => [position, due]));
    expect(await exitAllAt(id)).toBe(due + day);
  });

  it("delays no list while another one is stuck", async () => {
    const stuck = await dueList();
    const other = await dueList();
    await sell(1, 2);
    await enter(stuck, 1, due - hour);
    await enter(other, 2, due - hour);
    const handling = await db.transaction(async (tx) => {
      await tx.run(sql`select position.id from position where position.id = 1 for update`);
      const job = run(replica());
      while ((await exitAllAt(other)) === due) await sleep(5);
      expect(await exits()).toEqual([[2, due]]);
      return { job };
    });
    await handling.job;
    // It may have given up waiting, until its next turn.
    await handle();
    expect(await exits()).toEqual([
      [1, due],
      [2, due],
    ]);
  });
});

describe("an exit that was due several days ago", () => {
  it("[C7.9] follows for every day on which a ticket was inside, in order", async () => {
    const id = await dueList();
    await sell(1, 2, 3);
    await enter(id, 1, due - hour);
    await enter(id, 1, due + hour);
    await enter(id, 2, due + 2 * day + hour);
    await enter(id, 3, due + 3 * day);
    checkin.clock.at = due + 10 * day - 1;
    await run(replica());
    expect(await exits()).toEqual([
      [1, due],
      [1, due + day],
      [2, due + 3 * day],
      [3, due + 4 * day],
    ]);
    expect(await exitAllAt(id)).toBe(due + 10 * day);
    await expectTrueCounts();
  });

  it("[C7.9] follows for the first ticket that is inside, wherever it is read", async () => {
    const tickets = [1, 2, 3, 4, 5, 6, 7];
    for (const first of [1, 4, 7]) {
      await db.run(sql`delete from list`);
      const id = await dueList();
      await sell(...tickets);
      for (const position of tickets) await enter(id, position, due + (position === first ? day : 3 * day) + hour);
      checkin.clock.at = due + 3 * day;
      await run(replica());
      expect(await exits()).toContainEqual([first, due + 2 * day]);
      checkin.clock.at = due + 4 * day;
      await run(replica());
      await db.run(sql`delete from scan where auto_checked_in`);
    }
  });

  it("[C7.9] follows the next day where an entry arrived late", async () => {
    const id = await dueList();
    await sell(1);
    await handle();
    await enter(id, 1, due - hour);
    checkin.clock.at = due + 5 * day;
    await handle();
    expect(await exits()).toEqual([[1, due + day]]);
    expect(await exitAllAt(id)).toBe(due + 6 * day);
  });

  it("[C7.9] takes no longer for two thousand years", async () => {
    const id = await dueList({ exitAllAt: Date.UTC(2000, 0, 1, 4) * 1000 });
    await db.run(sql`update list set exit_all_at = '0001-01-01T04:00:00Z'`);
    await sell(1);
    await enter(id, 1, due - hour);
    checkin.clock.at = due + 3 * day;
    await handle();
    const [[, at = 0] = []] = await exits();
    expect(at).toBeGreaterThan(due - hour);
    expect(at).toBeLessThan(due + day);
    expect(await exits()).toHaveLength(1);
    expect(await exitAllAt(id)).toBeGreaterThan(checkin.clock.at);
  });
});

describe("the move of an automatic exit", () => {
  const at = (text: string) => Date.parse(text) * 1000;

  it("[C7.7] goes back to the local time that clocks had skipped, also for another process", async () => {
    const id = await dueList({ exitAllAt: at("2026-03-28T01:30:00Z") });
    for (const expected of ["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"]) {
      checkin.clock.at = (await exitAllAt(id)) ?? 0;
      await run(replica());
      expect(await exitAllAt(id)).toBe(at(expected));
    }
  });

  it("[C7.7] follows what an organizer sets on the day that clocks skip it", async () => {
    const id = await dueList({ exitAllAt: at("2026-03-28T01:30:00Z") });
    checkin.clock.at = at("2026-03-28T02:00:00Z");
    await handle();
    await db.run(sql`update list set exit_all_at = '2026-03-29T01:40:00Z'`);
    checkin.clock.at = at("2026-03-29T02:00:00Z");
    await handle();
    expect(await exitAllAt(id)).toBe(at("2026-03-30T01:40:00Z"));
  });

  it("[C7.10] is no change of the list", async () => {
    const id = await dueList({ name: "Night" });
    const changed = sql`select list_change.changed_at, list_change.changed_in::text from list_change`;
    const before = {
      list: (await checkin.lists.getCheckinList({ ...place, id })).list,
      changed: await db.many(changed),
    };
    await handle();
    const after = {
      list: (await checkin.lists.getCheckinList({ ...place, id })).list,
      changed: await db.many(changed),
    };
    expect(after.changed).toEqual(before.changed);
    expect(after.list?.fields).toEqual({ ...before.list?.fields, exitAllAt: due + day });
  });

  it.each([
    ["set to another time", sql`update list set exit_all_at = exit_all_at + interval '1 hour 1 microsecond'`],
    ["taken back", sql`update list set exit_all_at = null`],
    ["deleted with the list", sql`delete from list`],
  ])("[C7.11] does not happen where the exit was %s meanwhile, and no exit follows", async (_name, change) => {
    const id = await dueList();
    await sell(1, 2, 3, 4, 5);
    for (const position of [1, 2, 3, 4, 5]) await enter(id, position, due - hour);
    let isChanged = false;
    const changing = replica({
      async many<Row>(statement: Parameters<Db["many"]>[0]) {
        const rows = await db.many<Row>(statement);
        if (!isChanged && (await exits()).length === 2 && !isChanged) {
          isChanged = true;
          await db.run(change);
        }
        return rows;
      },
    });
    await run(changing);
    expect(await exits()).toHaveLength(2);
    const [list] = await db.many<{ at: number | null }>(sql`select list.exit_all_at as at from list`);
    expect([undefined, null, due + hour + 1]).toContain(list === undefined ? undefined : list.at);
  });

  it("[C7.11] starts over where the list got other products meanwhile", async () => {
    const id = await dueList({ allProducts: false, limitProducts: [10] });
    await checkin.deliver(topics.positionChanged, [positionFact(1, { item: 11 }), positionFact(2), positionFact(3)]);
    await db.run(sql`update list set all_products = true`);
    for (const position of [1, 2, 3]) await enter(id, position, due - hour);
    await db.run(sql`update list set all_products = false`);
    let isChanged = false;
    const changing = replica({
      async run(statement) {
        if (!isChanged) await db.run(sql`update list set all_products = true`);
        isChanged = true;
        return db.run(statement);
      },
    });
    await run(changing);
    expect(await exitAllAt(id)).toBe(due);
    await run(changing);
    expect(await exits()).toEqual([1, 2, 3].map((position) => [position, due]));
    expect(await exitAllAt(id)).toBe(due + day);
  });

  it("handles the other lists when one fails, and then throws", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact({ event: "nowhere", timezone: "Nowhere/Never" })]);
    await checkin.lists.createCheckinList({
      ...place,
      event: "nowhere",
      fields: listFields({ exitAllAt: due - hour }),
    });
    const id = await dueList();
    await expect(handle()).rejects.toThrow(RangeError);
    expect(await exitAllAt(id)).toBe(due + day);
  });
});
