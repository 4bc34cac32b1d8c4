import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { TestDatabase } from "@tessera/testkit/database";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Clock } from "../clock.ts";
import type { Db } from "../pg/database.ts";
import { toTimestamp } from "../pg/instants.ts";
import { sql } from "../pg/sql.ts";
import { keepFactTables } from "./keep-tables.ts";

const dayMicros = 86_400_000_000;
const start = Date.UTC(2026, 11, 30, 23, 59) * 1000;

/** A clock that stands still, a number of days after the evening of 30 December 2026. */
const after = (days: number): Clock => ({ now: () => start + days * dayMicros });

let database: TestDatabase;
let db: Db;

beforeEach(async () => {
  database = await createFactDatabase();
  db = database.open("reader");
});

afterEach(() => database.drop());

async function partitions(): Promise<string[]> {
  const rows = await db.many<{ name: string }>(sql`
    select inhrelid::regclass::text as name from pg_inherits where inhparent = 'inbox'::regclass order by name`);
  return rows.map(({ name }) => name);
}

async function record(day: string): Promise<string> {
  const id = randomUUID();
  await db.transaction((tx) =>
    tx.run(sql`insert into inbox (fact_on, consumer, fact_id) values (${day}::date, 'c', ${id})`),
  );
  return id;
}

const placeOf = async (id: string) =>
  (await db.maybeOne<{ place: string }>(sql`select tableoid::regclass::text as place from inbox where fact_id = ${id}`))
    ?.place;

describe("keepFactTables", () => {
  it("keeps a partition for today and each of the next three days, across the year's end", async () => {
    await keepFactTables(db, after(0));
    const four = ["inbox_20261230", "inbox_20261231", "inbox_20270101", "inbox_20270102"];
    expect(await partitions()).toEqual([...four, "inbox_other"]);
    await keepFactTables(db, after(0));
    await keepFactTables(db, after(1));
    expect(await partitions()).toEqual([...four, "inbox_20270103", "inbox_other"]);
    expect(await placeOf(await record("2026-12-31"))).toBe("inbox_20261231");
    expect(await placeOf(await record("2027-01-03"))).toBe("inbox_20270103");
    expect(await placeOf(await record("2027-01-04"))).toBe("inbox_other");
  });

  it("knows a fact again in every partition", async () => {
    await keepFactTables(db, after(0));
    for (const day of ["2026-12-30", "2027-02-01"]) {
      const id = await record(day);
      const again = sql`
        insert into inbox (fact_on, consumer, fact_id) values (${day}::date, 'c', ${id})
            on conflict (fact_on, consumer, fact_id) do nothing`;
      expect(await db.run(again)).toBe(0);
    }
  });

  it("drops what is past its time, and keeps the day before that", async () => {
    await keepFactTables(db, after(0));
    const kept = await record("2026-12-31");
    const gone = await record("2026-12-30");
    const strays = [await record("2026-12-29"), await record("2026-12-31")];
    await keepFactTables(db, after(45));
    expect(await placeOf(gone)).toBe("inbox_20261230");
    await keepFactTables(db, after(46));
    expect((await partitions())[0]).toBe("inbox_20261231");
    expect(await placeOf(kept)).toBe("inbox_20261231");
    expect([await placeOf(gone), ...(await Promise.all(strays.map(placeOf)))]).toEqual([
      undefined,
      undefined,
      "inbox_20261231",
    ]);
  });

  it("deletes dead letters that were not replayed in time", async () => {
    const park = (days: number) =>
      db.run(sql`
        insert into dead_letter (consumer, topic, key, fact_id, fact_at, cause, parked_at)
        values ('c', 't', ${`of day ${days}`}, ${randomUUID()}, now(), 'no', ${toTimestamp(after(days).now())}::timestamptz)`);
    for (const days of [0, 7, 30]) await park(days);
    const left = async () =>
      (await db.many<{ key: string }>(sql`select key from dead_letter order by id`)).map(({ key }) => key);
    await keepFactTables(db, after(30));
    expect(await left()).toEqual(["of day 0", "of day 7", "of day 30"]);
    await keepFactTables(db, after(31));
    expect(await left()).toEqual(["of day 7", "of day 30"]);
    await keepFactTables(db, after(31), { deadLettersMs: 86_400_000 * 2 });
    expect(await left()).toEqual(["of day 30"]);
  });

  it("moves what came for a day that had no partition yet", async () => {
    const early = [await record("2026-12-31"), await record("2026-12-31"), await record("2027-01-02")];
    const far = await record("2027-01-20");
    await keepFactTables(db, after(0));
    expect(await Promise.all([...early, far].map(placeOf))).toEqual([
      "inbox_20261231",
      "inbox_20261231",
      "inbox_20270102",
      "inbox_other",
    ]);
  });

  it("may be done by ten at once, while consumers write", async () => {
    const others = Array.from({ length: 10 }, () => database.open("reader", { maxConnections: 2 }));
    let writing = true;
    const written: string[] = [];
    const write = async () => {
      for (let day = 0; writing; day = (day + 1) % 6) {
        written.push(await record(toTimestamp(start + day * dayMicros).slice(0, 10)));
        await sleep(1);
      }
    };
    const writers = [write(), write()];
    for (const days of [0, 1, 2]) await Promise.all(others.map((other) => keepFactTables(other, after(days))));
    writing = false;
    await Promise.all(writers);
    expect(await partitions()).toHaveLength(7);
    const rows = await db.one<{ count: number }>(sql`select count(*) as count from inbox`);
    expect(rows.count).toBe(written.length);
    await Promise.all(others.map((other) => keepFactTables(other, after(60))));
    expect((await partitions())[0]).toBe("inbox_20270228");
  });

  it("neither fails nor holds up consumers while one of them is at work for long", async () => {
    await keepFactTables(db, after(0));
    const release = Promise.withResolvers<void>();
    const begun = Promise.withResolvers<void>();
    const consumer = db.transaction(async (tx) => {
      await tx.run(sql`insert into inbox (fact_on, consumer, fact_id) values ('2026-12-30', 'c', ${randomUUID()})`);
      begun.resolve();
      await release.promise;
    });
    await begun.promise;
    const slowestWrite = async () => {
      const waits: number[] = [];
      for (let round = 0; round < 30; round += 1) {
        const from = performance.now();
        await record("2026-12-31");
        waits.push(performance.now() - from);
        await sleep(10);
      }
      return Math.max(...waits);
    };
    const undisturbedMs = await slowestWrite();
    const [slowestMs] = await Promise.all([slowestWrite(), keepFactTables(db, after(46))]);
    // Who is held up for as long as the consumer is at work ends after three seconds, refused.
    expect(slowestMs).toBeLessThan(1500 + 10 * undisturbedMs);
    expect(await partitions()).toContain("inbox_20261230");
    expect(await partitions()).toContain("inbox_20270217");
    release.resolve();
    await consumer;
    await keepFactTables(db, after(46));
    expect(await partitions()).not.toContain("inbox_20261230");
  });

  describe("forgets markers", () => {
    const insert = (passedAt: number, { isOfRebuild = false, times = 1 } = {}) =>
      db.run(sql`
        insert into passed_marker (consumer, marker, topic, partition, is_of_rebuild, passed_at)
        select 'c', gen_random_uuid(), 't', 0, ${isOfRebuild}, ${toTimestamp(passedAt)}::timestamptz
          from generate_series(1, ${times})`);
    const left = () =>
      db.many(
        sql`select is_of_rebuild as "isOfRebuild", passed_at as "passedAt" from passed_marker order by passed_at`,
      );

    it("of rebuilds after two weeks, so that a rebuild may end days after it began, and others after an hour", async () => {
      const [twoWeeksAgo, anHourAgo] = [start - 14 * dayMicros, start - 3_600_000_000];
      for (const isOfRebuild of [false, true]) {
        for (const at of [twoWeeksAgo - 1, twoWeeksAgo, anHourAgo - 1, anHourAgo]) await insert(at, { isOfRebuild });
      }
      await keepFactTables(db, after(0));
      expect(await left()).toEqual([
        { isOfRebuild: true, passedAt: twoWeeksAgo },
        { isOfRebuild: true, passedAt: anHourAgo - 1 },
        { isOfRebuild: false, passedAt: anHourAgo },
        { isOfRebuild: true, passedAt: anHourAgo },
      ]);
    });

    it("however many there are", async () => {
      await insert(start - dayMicros, { times: 2500 });
      await keepFactTables(db, after(0));
      expect(await left()).toEqual([]);
    });

    it("though another process is deleting some of them for long", async () => {
      await insert(start - dayMicros);
      await insert(start - 2 * dayMicros);
      await db.transaction(async (tx) => {
        await tx.run(sql`delete from passed_marker where passed_at < ${toTimestamp(start - dayMicros)}::timestamptz`);
        await keepFactTables(database.open("reader"), after(0));
      });
      expect(await left()).toEqual([]);
    });
  });

  it("deletes what is behind a table in which nothing can be deleted", async () => {
    await db.run(sql`
      insert into dead_letter (consumer, topic, key, fact_id, fact_at, cause, parked_at)
      values ('c', 't', 'k', ${randomUUID()}, now(), 'no', ${toTimestamp(start)}::timestamptz)`);
    await db.run(sql`alter table passed_marker rename to passed_marker_elsewhere`);
    await expect(keepFactTables(db, after(31))).rejects.toThrow("passed_marker");
    expect(await db.many(sql`select key from dead_letter`)).toEqual([]);
  });
});
