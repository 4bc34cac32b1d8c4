import { sql } from "@tessera/kit/pg/sql";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { databaseTime } from "@tessera/testkit/database-time";
import { finishWork } from "@tessera/testkit/finish-work";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../testing/database.ts";
import { earlierCheckin, eventFact, place, positionFact } from "../testing/facts.ts";
import { listFields, scan, startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeEach(() => checkin.reset());

const event = `${place.organizer}/${place.event}/`;

const rowsLeft = async () => {
  const counts: Record<string, number> = {};
  for (const table of [
    "scan",
    "double_note",
    "presence",
    "count_delta",
    "list",
    "gone_list",
    "list_change",
    "alarm",
    "gone_event",
  ]) {
    const { count } = await checkin.db.one<{ count: number }>({
      text: `select count(*)::integer as count from ${table}`,
      values: [],
    });
    if (count > 0) counts[table] = count;
  }
  return counts;
};

const letADayPass = () => checkin.db.run(sql`update gone_event set gone_at = gone_at - interval '1 day'`);

/** An event with admissions and refusals of known and unknown codes, and a deleted list. */
async function visit(slug: string): Promise<void> {
  const there = { organizer: place.organizer, event: slug };
  await checkin.deliver(topics.eventChanged, [eventFact({ event: slug })]);
  const fact = positionFact(1, {}, { earlierCheckins: [earlierCheckin(70, { list: 15 })] });
  await checkin.deliver(topics.positionChanged, [{ ...fact, ...there }]);
  const { list } = await checkin.lists.createCheckinList({ ...there, fields: listFields({ name: "Door" }) });
  const id = list?.id ?? 0;
  for (const code of ["secret1", "secret1", "unknown"]) await checkin.redeem({ ...scan(id, code), ...there });
  // A note whose ticket was deleted while it was stored.
  await checkin.db.run(sql`
    insert into double_note (organizer, event, scan, position, list, explanation, explained_by)
    values (${there.organizer}, ${there.event}, 1, 1, ${id}, 'A copy.', 'Ann')`);
  await checkin.db.run(sql`
    insert into alarm (organizer, event, kind, gate) values (${there.organizer}, ${there.event}, 'gate_silent', 1)`);
  const data = Buffer.from(JSON.stringify({ id: 15, name: "Door" }));
  const records = [false, true].map((deleted) => ({ line: 1, kind: "checkin_list", ...there, deleted, data }));
  await checkin.records.applyRecords({ records });
}

describe("what a deleted event leaves", () => {
  it("[C1.26] is deleted with it, the rest a day later, however often that is tried, and nothing of other events", async () => {
    await visit(place.event);
    await visit("other");
    const before = await rowsLeft();
    await checkin.deliver(topics.eventChanged, [event], { at: await databaseTime(checkin.db) });
    await checkin.deliver(topics.positionChanged, [`${event}1`]);
    await finishWork(checkin.db, checkin.workers);
    const half = Object.fromEntries(
      ["scan", "presence", "list", "gone_list"].map((table) => [table, (before[table] ?? 0) / 2]),
    );
    expect(await rowsLeft()).toMatchObject({ ...half, gone_event: 1 });
    await letADayPass();
    await checkin.runJob("remove-gone-events");
    await checkin.runJob("remove-gone-events");
    const left = await checkin.db.many<{ event: string }>(sql`
      select distinct left_over.event
        from (select event from scan union all select event from list union all select event from gone_list
              union all select event from double_note union all select event from list_change union all select event from alarm union all select event from presence
              union all select event from count_delta where not folded or positions <> 0) as left_over`);
    expect(left).toEqual([{ event: "other" }]);
    expect(await rowsLeft()).not.toHaveProperty("gone_event");
  });

  it("[C1.26, R3.14] is nothing that the next event of its name has", async () => {
    await visit(place.event);
    const lists = () =>
      checkin.lists.listCheckinLists({ ...place, page: 1, pageSize: 50, ordering: [], withCounts: true });
    const changedAt = () => checkin.db.many(sql`select list_change.changed_at from list_change`);
    const before = await changedAt();
    const at = await databaseTime(checkin.db);
    await checkin.deliver(topics.eventChanged, [event, eventFact({ revision: 2 })], { at });
    expect(await changedAt()).not.toEqual(before);
    await checkin.deliver(topics.positionChanged, [`${event}1`, positionFact(2, {}, { revision: 9 })]);
    const { list } = await checkin.lists.createCheckinList({ ...place, fields: listFields({ name: "Door" }) });
    await checkin.redeem({ ...scan(list?.id ?? 0, "another"), ...place });
    await finishWork(checkin.db, checkin.workers);
    expect((await lists()).lists).toMatchObject([{ id: list?.id, positionCount: 1, checkinCount: 0 }]);
    expect(await checkin.db.many(sql`select scan.raw_code as code from scan`)).toEqual([{ code: "another" }]);
    // A scan on a list that the former event had deleted is taken again.
    const sent = positionFact(3, {}, { revision: 10, earlierCheckins: [earlierCheckin(80, { list: 15 })] });
    await checkin.deliver(topics.positionChanged, [sent]);
    expect(await checkin.db.many(sql`select scan.list from scan where scan.position = 3`)).toEqual([{ list: 15 }]);
    await letADayPass();
    await checkin.runJob("remove-gone-events");
    expect((await lists()).lists).toHaveLength(1);
  });

  it("[C1.26] is deleted by a later run where another transaction held it", async () => {
    await visit(place.event);
    await checkin.deliver(topics.positionChanged, [`${event}1`]);
    await checkin.sweep(topics.eventChanged, 2);
    await letADayPass();
    await checkin.db.transaction(async (tx) => {
      await tx.run(sql`select scan.id from scan for update`);
      await checkin.runJob("remove-gone-events");
    });
    expect(await rowsLeft()).toMatchObject({ scan: expect.any(Number), gone_event: 1 });
    await checkin.runJob("remove-gone-events");
    expect(await rowsLeft()).not.toHaveProperty("scan");
    expect(await rowsLeft()).not.toHaveProperty("gone_event");
  });

  it("[C1.26] stays where only a rebuild left the event out, and it is back by then", async () => {
    await visit(place.event);
    const before = await rowsLeft();
    await checkin.sweep(topics.eventChanged, 2);
    await checkin.deliver(topics.eventChanged, [eventFact({ revision: 2 })]);
    await letADayPass();
    await checkin.runJob("remove-gone-events");
    expect(await rowsLeft()).toEqual(before);
  });

  it("[C1.26] is deleted where a rebuild says that the event is not there any more", async () => {
    await visit(place.event);
    await checkin.deliver(topics.positionChanged, [`${event}1`]);
    await checkin.sweep(topics.eventChanged, 2);
    await letADayPass();
    await checkin.runJob("remove-gone-events");
    expect(await rowsLeft()).not.toHaveProperty("scan");
    expect(await rowsLeft()).not.toHaveProperty("list");
  });
});

describe("the code of a refused scan", () => {
  const codes = async () =>
    (
      await checkin.db.many<{ code: string | null }>(sql`
      select scan.raw_code as code from scan order by scan.id`)
    ).map(({ code }) => code);
  const letDaysPass = (days: number) =>
    checkin.db.run(sql`update scan set created_at = created_at - make_interval(days => ${days})`);
  let list: number;

  beforeEach(async () => {
    await checkin.deliver(topics.eventChanged, [eventFact()]);
    await checkin.deliver(topics.positionChanged, [positionFact(1)]);
    list = (await checkin.createList()).id;
  });

  it("[C3.45] is deleted after REFUSED_CODE_DAYS, and the refusal stays", async () => {
    await checkin.redeem(scan(list, "secret1", { nonce: "a nonce" }));
    await checkin.redeem(scan(list, "a passport"));
    await letDaysPass(29);
    await checkin.runJob("forget-codes");
    expect(await codes()).toEqual(["secret1", "a passport"]);
    await letDaysPass(1);
    await checkin.redeem(scan(list, "another passport"));
    await checkin.runJob("forget-codes");
    expect(await codes()).toEqual(["secret1", null, "another passport"]);
  });

  it("[C3.45, C6.25] is kept up to its first 1000 characters", async () => {
    const long = "\u{1f39f}".repeat(1000);
    await checkin.redeem(scan(list, `${long}and more`));
    const request = {
      ...place,
      list,
      scan: {
        reason: "invalid",
        rawCode: `${long}and more`,
        sourceType: "barcode",
        type: ScanType.ENTRY,
        nonce: "once",
      },
    };
    await checkin.history.recordFailedScan(request);
    await checkin.history.recordFailedScan(request);
    expect(await codes()).toEqual([long, long]);
  });
});
