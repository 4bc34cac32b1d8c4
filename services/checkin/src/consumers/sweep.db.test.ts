import { randomUUID } from "node:crypto";
import type { Consumer } from "@tessera/kit/bus/consume";
import { header } from "@tessera/kit/bus/headers";
import { createLog } from "@tessera/kit/log";
import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { categoryFact, earlierCheckin, eventFact, itemFact, positionFact, subeventFact } from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { inWord, type RunningCheckin, scan, startCheckin } from "../testing/start-checkin.ts";
import { categoryChanged } from "./category-changed.ts";
import { eventChanged } from "./event-changed.ts";
import { itemChanged } from "./item-changed.ts";
import { positionChanged } from "./position-changed.ts";
import { subeventChanged } from "./subevent-changed.ts";

let database: TestDatabase;
let checkin: RunningCheckin;
const log = createLog({ service: "checkin", destination: { write: () => {} } });

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
});
afterAll(() => database.drop());
beforeEach(() => checkin.forgetEverything());

/** Delivers what ends a rebuild that began at a revision, as one partition of one has it. */
async function sweep(consumer: Consumer, before: number): Promise<void> {
  const headers = {
    [header.marker]: randomUUID(),
    [header.sweepBelow]: String(before),
    [header.sweepPartitions]: "1",
    [header.sweepSince]: "0",
  };
  const message = { topic: consumer.topic, partition: 0, key: "rebuild", value: new Uint8Array(), headers };
  await consumer.deliver([message], { group: "checkin", log, signal: new AbortController().signal });
  expect(await checkin.db.many(sql`select cause from dead_letter`)).toEqual([]);
}

describe("a sweep", () => {
  it.each([
    [
      "events",
      eventChanged,
      topics.eventChanged,
      eventFact({ event: "lost", revision: 99 }),
      eventFact({ revision: 100 }),
      sql`select event as name from event`,
      "sampleconf",
    ],
    [
      "dates",
      subeventChanged,
      topics.subeventChanged,
      subeventFact(1, { revision: 99 }),
      subeventFact(2, { revision: 100 }),
      sql`select id::text as name from subevent`,
      "2",
    ],
    [
      "categories",
      categoryChanged,
      topics.categoryChanged,
      { ...categoryFact(1, 1), revision: 99 },
      { ...categoryFact(2, 2), revision: 100 },
      sql`select id::text as name from category`,
      "2",
    ],
    [
      "items",
      itemChanged,
      topics.itemChanged,
      itemFact(1, { revision: 99 }),
      itemFact(2, { revision: 100 }),
      sql`select id::text as name from item`,
      "2",
    ],
  ] as const)("removes lost %s", async (_name, consume: (db: Db) => Consumer, topic, lost, kept, names, expected) => {
    await checkin.deliver<never>(topic as never, [lost as never, kept as never]);
    await sweep(consume(checkin.db), 100);
    expect(await checkin.db.many(names)).toEqual([{ name: expected }]);
  });

  it("takes lost positions out of lists, scans and counts, and leaves the others theirs", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    const { id: list } = await checkin.createList();
    const ids = Array.from({ length: 1200 }, (_, index) => index + 1);
    await checkin.deliver(
      topics.positionChanged,
      ids.map((id) =>
        positionFact(id, {}, { revision: id, earlierCheckins: id === 3 ? [earlierCheckin(1, { list })] : [] }),
      ),
    );
    await checkin.redeemAll([1, 2, 1150, 1151].map((id) => scan(list, `secret${id}`)));
    await sweep(positionChanged(checkin.db), 1101);
    const rows = await checkin.db.one(sql`
      select (select count(*) from position) as positions, (select min(id) from position) as first,
             array(select position::integer from scan where successful order by 1) as scanned,
             array(select position::integer from presence order by 1) as present`);
    expect(rows).toEqual({ positions: 100, first: 1101, scanned: [1150, 1151], present: [1150, 1151] });
    const { counted, recounted } = await recount(checkin.db);
    expect(counted).toEqual(recounted);
    expect((await checkin.redeemAll([1, 1152, 1150].map((id) => scan(list, `secret${id}`)))).map(inWord)).toEqual([
      "unknownTicket",
      "admitted",
      "already_redeemed",
    ]);
  });

  it("leaves a position that comes anew while it is swept", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { revision: 5 })]);
    const holder = await checkin.db.dedicated();
    await holder.run(sql`begin`);
    await holder.run(sql`update position set revision = 2000 where id = 1`);
    const sweeping = sweep(positionChanged(checkin.db), 1000);
    await expect
      .poll(() => checkin.db.many(sql`select from pg_locks where not granted and locktype = 'transactionid'`))
      .not.toEqual([]);
    await holder.run(sql`commit`);
    await sweeping;
    await holder.release();
    expect(await checkin.db.many(sql`select id, revision from position`)).toEqual([{ id: 1, revision: 2000 }]);
  });

  it("and the states of a rebuild make a copy whole: scans and counts of those who exist stay", async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    const { id: list } = await checkin.createList();
    const checkins = [earlierCheckin(1, { list })];
    await checkin.deliver(topics.positionChanged, [
      positionFact(1),
      positionFact(2, {}, { earlierCheckins: checkins }),
    ]);
    await checkin.redeem(scan(list, "secret1"));
    const before = await checkin.db.many(sql`select position, imported_id, successful from scan order by id`);
    const again = { revision: 500, earlierCheckins: checkins };
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { revision: 499 }), positionFact(2, {}, again)]);
    await sweep(positionChanged(checkin.db), 400);
    expect(await checkin.db.many(sql`select position, imported_id, successful from scan order by id`)).toEqual(before);
    const { counted, recounted } = await recount(checkin.db);
    expect(counted).toEqual(recounted);
  });
});
