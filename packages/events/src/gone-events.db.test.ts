import { randomUUID } from "node:crypto";
import { isErased } from "@tessera/events/personal-data/erased-kinds";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { copyTable } from "@tessera/kit/pg/table";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventKey } from "./entity-key.ts";
import { endingWith, findGoneEvents, forgetGoneEvent, isGone, notingGone } from "./gone-events.ts";
import { findErasedUntil } from "./personal-data/erased-until.ts";
import { addParts, findErasure, holdCase, noteCase, takeOn, takeOnAgain } from "./personal-data/erasures.ts";

const events = notingGone(copyTable("event", { key: eventKey, columns: {} }));
const [old, young] = [
  { organizer: "org", event: "old" },
  { organizer: "org", event: "young" },
];

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "alpha", migrations: new URL("./", import.meta.url) }]);
  db = database.open("alpha");
  await db.run(sql`
    create table event (organizer text collate "C", event text collate "C", revision bigint not null,
                        known_columns integer not null, primary key (organizer, event))`);
  await db.run(sql`
    create table gone_event (organizer text collate "C", event text collate "C", gone_at timestamptz not null,
                             primary key (organizer, event))`);
});
afterAll(() => database.drop());
beforeEach(async () => {
  await db.run(sql`truncate event, gone_event, erasure cascade`);
  await events.upsertNewer(db, [
    { ...old, revision: 1 },
    { ...young, revision: 2 },
  ]);
});

const noted = () =>
  db.many(sql`select gone_event.organizer, gone_event.event from gone_event order by gone_event.event`);
const letADayPass = () => db.run(sql`update gone_event set gone_at = gone_at - interval '1 day'`);

async function isThere(key: typeof old): Promise<boolean> {
  const { gone } = await db.one<{ gone: boolean }>(sql`select ${isGone(key)} as gone`);
  return !gone;
}

describe("an event that is deleted", () => {
  it("is noted, and found a day later", async () => {
    expect(await events.delete(db, [old])).toBe(1);
    expect([await isThere(old), await isThere(young)]).toEqual([false, true]);
    expect(await noted()).toEqual([old]);
    expect(await findGoneEvents(db)).toEqual([]);
    await letADayPass();
    expect(await findGoneEvents(db)).toEqual([old]);
  });

  it("is noted, too, where a rebuild leaves it out", async () => {
    expect(await events.deleteOlder(db, 2)).toBe(1);
    expect(await noted()).toEqual([old]);
  });

  it("[D4.4] takes its erasures along, also where a rebuild leaves it out", async () => {
    const cases = [old, young].map((key) => ({ ...key, case: randomUUID(), kinds: ["attendee_info"] }));
    for (const each of cases) {
      await noteCase(db, each);
      await takeOn(db, each);
      await addParts(db, each, [{ kind: "attendee_info", holding: "scan", count: 1 }]);
    }
    const erased = () =>
      db.many(sql`
        select noted.event
          from erasure as noted
         where ${isErased({ organizer: sql`noted.organizer`, event: sql`noted.event` }, "any")}
         order by noted.event`);
    await events.deleteOlder(db, 2);
    expect(await erased()).toEqual([{ event: "young" }]);
    await events.delete(db, [young]);
    expect(await erased()).toEqual([]);
    expect(await db.many(sql`select from erased_part`)).toEqual([]);
  });

  it("[D4.4] does not take along the cases of the next event of its name, which were begun after it was deleted", async () => {
    const [before, after] = [randomUUID(), randomUUID()].map((id) => ({ ...old, case: id, kinds: ["attendee_info"] }));
    if (before === undefined || after === undefined) throw new Error("there are two");
    await noteCase(db, before);
    await db.run(sql`update erasure set requested_at = requested_at - interval '10 minutes'`);
    await noteCase(db, after);
    const { deletedAt } = await db.one<{ deletedAt: number }>(
      sql`select clock_timestamp() - interval '5 minutes' as "deletedAt"`,
    );
    await events.delete(db, [old], [deletedAt]);
    expect(await takeOn(db, before)).toBeUndefined();
    expect(await takeOn(db, after)).toBe(0);
  });

  it("[D4.4] does not take along the cases of the next event of its name, where a rebuild leaves the deleted one out", async () => {
    const [before, after] = [randomUUID(), randomUUID()].map((id) => ({ ...old, case: id, kinds: ["attendee_info"] }));
    if (before === undefined || after === undefined) throw new Error("there are two");
    await noteCase(db, before);
    await db.run(sql`update erasure set requested_at = requested_at - interval '10 minutes'`);
    await noteCase(db, after);
    const { since } = await db.one<{ since: number }>(sql`select clock_timestamp() - interval '5 minutes' as since`);
    expect(await events.deleteOlder(db, 2, since)).toBe(1);
    expect(await takeOn(db, before)).toBeUndefined();
    expect(await takeOn(db, after)).toBe(0);
  });

  it("[D4.4] leaves the ids of its cases, so that no request for one touches another event of its name", async () => {
    const [known, unknown] = [randomUUID(), randomUUID()].map((id) => ({ ...old, case: id, kinds: ["attendee_info"] }));
    if (known === undefined || unknown === undefined) throw new Error("there are two");
    expect(await takeOnAgain(db, known)).toBe(0);
    await events.delete(db, [old]);
    await events.upsertNewer(db, [{ ...old, revision: 3 }]);
    expect(await noteCase(db, known)).toBe(false);
    expect(await takeOn(db, known)).toBeUndefined();
    expect(await takeOnAgain(db, known)).toBeUndefined();
    expect(await holdCase(db, known)).toBe(false);
    expect(await findErasure(db, known)).toBeUndefined();
    expect(await findErasedUntil(db, old)).toEqual(new Map());
    // Of a database that was restored, for instance.
    expect(await takeOnAgain(db, unknown)).toBe(0);
    expect(await holdCase(db, unknown)).toBe(true);
  });

  it("counts from its last deletion on", async () => {
    await events.delete(db, [old]);
    await letADayPass();
    await events.delete(db, [old, young]);
    expect(await findGoneEvents(db)).toEqual([]);
    expect(await noted()).toEqual([old, young]);
  });

  it("loses its note when it is back", async () => {
    await events.delete(db, [old, young]);
    await letADayPass();
    await events.upsertNewer(db, [{ ...old, revision: 3 }]);
    expect(await findGoneEvents(db)).toEqual([young]);
    expect(await noted()).toEqual([young]);
  });

  it("is forgotten when its day is over and nothing is left of it", async () => {
    await events.delete(db, [old]);
    await forgetGoneEvent(db, old);
    expect(await noted()).toEqual([old]);
    await letADayPass();
    await forgetGoneEvent(db, young);
    await forgetGoneEvent(db, old, { isLeft: sql`true` });
    expect(await noted()).toEqual([old]);
    await forgetGoneEvent(db, old);
    expect(await noted()).toEqual([]);
  });

  it("ends what was made for it, and one that a rebuild leaves out does not", async () => {
    const ended: unknown[] = [];
    const ending = notingGone(
      endingWith(copyTable("event", { key: eventKey, columns: {} }), async (_tx, event) => {
        ended.push(event);
      }),
    );
    await ending.deleteOlder(db, 2);
    expect(ended).toEqual([]);
    expect(await ending.delete(db, [young], [7])).toBe(1);
    expect([ended, await noted()]).toEqual([[{ ...young, deletedAt: 7 }], [old, young]]);
  });

  it("leaves no note without a deletion", async () => {
    expect(await events.delete(db, [])).toBe(0);
    expect(await noted()).toEqual([]);
  });
});
