import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { categoryFact, earlierCheckin, eventFact, itemFact, positionFact, subeventFact } from "../testing/facts.ts";
import { recount } from "../testing/recount.ts";
import { inWord, scan, startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(() => checkin.reset());

describe("a sweep", () => {
  it.each([
    [
      "events",
      topics.eventChanged,
      eventFact({ event: "lost", revision: 99 }),
      eventFact({ revision: 100 }),
      sql`select event as name from event`,
      "sampleconf",
    ],
    [
      "dates",
      topics.subeventChanged,
      subeventFact(1, { revision: 99 }),
      subeventFact(2, { revision: 100 }),
      sql`select id::text as name from subevent`,
      "2",
    ],
    [
      "categories",
      topics.categoryChanged,
      { ...categoryFact(1, 1), revision: 99 },
      { ...categoryFact(2, 2), revision: 100 },
      sql`select id::text as name from category`,
      "2",
    ],
    [
      "items",
      topics.itemChanged,
      itemFact(1, { revision: 99 }),
      itemFact(2, { revision: 100 }),
      sql`select id::text as name from item`,
      "2",
    ],
  ] as const)("removes lost %s", async (_name, topic, lost, kept, names, expected) => {
    await checkin.deliver<never>(topic as never, [lost as never, kept as never]);
    await checkin.sweep(topic, 100);
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
    await checkin.sweep(topics.positionChanged, 1101);
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

  it("keeps a position that is created again during the sweep", async () => {
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { revision: 5 })]);
    const holder = await checkin.db.dedicated();
    await holder.run(sql`begin`);
    await holder.run(sql`update position set revision = 2000 where id = 1`);
    const sweeping = checkin.sweep(topics.positionChanged, 1000);
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
    await checkin.sweep(topics.positionChanged, 400);
    expect(await checkin.db.many(sql`select position, imported_id, successful from scan order by id`)).toEqual(before);
    const { counted, recounted } = await recount(checkin.db);
    expect(counted).toEqual(recounted);
  });
});
