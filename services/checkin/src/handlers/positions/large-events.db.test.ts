import type { Queryable } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { openReads, type Reads } from "@tessera/kit/pg/reads";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { topics } from "@tessera/protos/topics";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { planSearch } from "../../domain/search-text.ts";
import { countPositions } from "../../store/count-positions.ts";
import { readFirstEntries } from "../../store/first-entries.ts";
import { readRuled } from "../../store/listed-positions.ts";
import { requireList } from "../../store/lists.ts";
import { everyPosition, isSearch, type PositionFilter } from "../../store/position-filter.ts";
import { findReached, idsBehind, pageIds, sortIds } from "../../store/position-pages.ts";
import { searchPositions } from "../../store/search-positions.ts";
import { checkinDatabase } from "../../testing/database.ts";
import { eventFact, itemFact, place, positionFact } from "../../testing/facts.ts";
import { addPositions } from "../../testing/many-positions.ts";
import { listFields, startCheckin } from "../../testing/start-checkin.ts";

const large = 60_000;
const small = ["small0", "small1", "small2", "small3"];

let reads: Reads;
const lists = new Map<string, number>();

const { database, db } = await checkinDatabase();
const checkin = await startCheckin(db);
beforeAll(async () => {
  reads = openReads({
    url: database.url,
    schema: "checkin",
    role: roleOf("checkin"),
    applicationName: "test-checkin",
    log: createLog({ service: "test", destination: { write: () => {} } }),
  });
  await checkin.deliver(topics.positionChanged, [positionFact(1, { attendeeName: "Zoe" })]);
  for (const event of [place.event, ...small]) {
    await checkin.deliver(topics.eventChanged, [eventFact({ event })]);
    await checkin.deliver(topics.itemChanged, [{ ...itemFact(10), event }]);
    const { list } = await checkin.lists.createCheckinList({ ...place, event, fields: listFields() });
    lists.set(event, list?.id ?? 0);
    await addPositions(checkin.db, { event, count: event === place.event ? large : 20 });
  }
  await checkin.db.run(sql`
    insert into presence (organizer, event, position, list, version, entries, last_type, last_at)
    select position.organizer, position.event, position.id, ${lists.get(place.event)}, 1, 1, 'entry',
           -- In another order than the tickets; several at a time, and every seventh at the same instant.
           timestamptz '2027-01-01' + case when position.id % 7 = 0 then 0 else position.id * 7919 % 9973 end * interval '1 second'
      from position
     where position.event = ${place.event} and position.id % 3 = 0`);
  await checkin.db.run(sql`
    insert into scan (organizer, event, id, list, position, type, successful, at, forced, force_sent, auto_checked_in)
    select presence.organizer, presence.event, nextval('scan_id'), presence.list, presence.position, 'entry', true,
           presence.last_at, false, false, false
      from presence`);
  await checkin.db.run(sql`
    insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
    select position.organizer, position.event, presence.list, 0, position.item, 0, 'paid', 0, count(*), count(*)
      from position
      join presence on presence.event = position.event and presence.position = position.id
     group by position.organizer, position.event, presence.list, position.item`);
  for (const table of [sql`position`, sql`presence`, sql`scan`, sql`count_delta`])
    await checkin.db.run(sql`vacuum ${table}`);
});
afterAll(() => reads.close());

interface Plan {
  readonly "Node Type": string;
  readonly "Actual Rows": number;
  readonly "Actual Loops": number;
  readonly "Rows Removed by Filter"?: number;
  readonly Plans?: readonly Plan[];
}

/** Sums the rows that the scan nodes of a plan have read. */
function rowsOf(plan: Plan): number {
  const below = (plan.Plans ?? []).reduce((sum, each) => sum + rowsOf(each), 0);
  if (!/Scan/.test(plan["Node Type"]) || /CTE|Subquery|Function|Bitmap Index/.test(plan["Node Type"])) return below;
  return below + (plan["Actual Rows"] + (plan["Rows Removed by Filter"] ?? 0)) * plan["Actual Loops"];
}

/** Reads as requests do. */
const reader = {
  transaction: <T>(work: (db: Queryable) => Promise<T>) => reads.inTurn(place.organizer, (db) => db.transaction(work)),
};

/** Runs reads on the connections of requests, and counts the rows that they read. */
async function costOf<T>(work: (db: Queryable) => Promise<T>): Promise<{ result: T; rows: number }> {
  let rows = 0;
  return reader.transaction(async (db) => {
    const explained = <F extends (statement: Sql) => unknown>(run: F) =>
      (async (statement: Sql) => {
        const [explanation] = await db.many<{ "QUERY PLAN": [{ Plan: Plan }] }>(
          sql`explain (analyze, timing off, format json) ${statement}`,
        );
        rows += explanation === undefined ? 0 : rowsOf(explanation["QUERY PLAN"][0].Plan);
        return run(statement);
      }) as F;
    const { one, many, maybeOne, run } = db;
    const result = await work({
      one: explained(one),
      many: explained(many),
      maybeOne: explained(maybeOne),
      run: explained(run),
    });
    return { result, rows };
  });
}

async function filterOf(event: string, changes: Partial<PositionFilter> = {}): Promise<PositionFilter> {
  const list = await requireList(checkin.db, { ...place, event, id: lists.get(event) ?? 0 });
  return { ...place, event, list, ignoreStatus: false, id: undefined, ...everyPosition, ...changes };
}

async function page(
  event: string,
  changes: Partial<PositionFilter>,
  cut: { ordering?: string[]; offset?: number } = {},
) {
  const filter = await filterOf(event, changes);
  return costOf(async (db) => {
    const count = await countPositions(db, filter);
    const offset = cut.offset === undefined || cut.offset >= 0 ? (cut.offset ?? 0) : count + cut.offset;
    return { count, ids: await pageIds(db, filter, { ordering: cut.ordering ?? [], limit: 50, offset, count }) };
  });
}

async function search(event: string, text: string, changes: Partial<PositionFilter> = {}) {
  const filter = await filterOf(event, { search: planSearch(text), ...changes });
  if (!isSearch(filter)) throw new Error("nothing is searched");
  return costOf(async (db) => sortIds(db, filter, { ordering: [], ids: await searchPositions(db, filter) }));
}

describe.each([
  ["without statistics", async () => {}],
  ["with statistics", async () => checkin.db.run(sql`analyze`)],
])("pages of a large event, %s", (_name, prepare) => {
  beforeAll(prepare);

  it.each<[string, Partial<PositionFilter>, { ordering?: string[]; offset?: number }, number, number]>([
    ["the first", {}, {}, large + 1, 80],
    ["the last", {}, { offset: -50 }, large + 1, 80],
    ["one within", {}, { offset: 1000 }, large + 1, 1080],
    ["one near the end", {}, { offset: large - 1000 }, large + 1, 1080],
    ["of a product", { items: [[11]] }, {}, large / 2, 160],
    ["whatever the status", { ignoreStatus: true }, {}, large + 1, 80],
    ["paid ones", { orderStatuses: ["paid"] }, {}, large + 1, 80],
    ["pending ones", { orderStatuses: ["pending"] }, {}, 0, 80],
    ["without a scan", { hasCheckin: false }, {}, (large * 2) / 3 + 1, 250],
    ["with a scan", { hasCheckin: true }, {}, large / 3, 400],
    ["by order", {}, { ordering: ["order__code"] }, large + 1, 120],
    ["the last by order", {}, { ordering: ["-order__code"], offset: -50 }, large + 1, 120],
    ["by name", {}, { ordering: ["attendee_name"] }, large + 1, 180],
    ["the last by name", {}, { ordering: ["attendee_name"], offset: -50 }, large + 1, 180],
    ["by name, turned", {}, { ordering: ["-attendee_name"] }, large + 1, 180],
    ["by number", {}, { ordering: ["positionid"] }, large + 1, 120],
    ["by number, turned", {}, { ordering: ["-positionid"] }, large + 1, 120],
    ["by e-mail address", {}, { ordering: ["order__email"] }, large + 1, 180],
    ["by e-mail address, turned", {}, { ordering: ["-order__email"] }, large + 1, 180],
    ["without a scan first", {}, { ordering: ["last_checked_in"] }, large + 1, 300],
    ["without a scan last", {}, { ordering: ["-last_checked_in"], offset: -50 }, large + 1, 300],
    ["the newest scans first", {}, { ordering: ["-last_checked_in"] }, large + 1, 200],
    ["the newest scans last", {}, { ordering: ["last_checked_in"], offset: -50 }, large + 1, 200],
    ["the newest scans of a product first", { items: [[11]] }, { ordering: ["-last_checked_in"] }, large / 2, 300],
  ])("%s: few tickets are read", async (_name, changes, cut, count, most) => {
    const { result, rows } = await page(place.event, changes, cut);
    expect(result.count).toBe(count);
    expect(result.ids).toHaveLength(Math.min(count, 50));
    expect(rows).toBeLessThan(most);
  });

  const deep = 29_000;
  it.each<[string, Partial<PositionFilter>, string[], number]>([
    ["by own name", {}, [], 300],
    ["of a product", { items: [[11]] }, [], 400],
    ["by name", {}, ["attendee_name"], 400],
    ["by name, turned", {}, ["-attendee_name"], 400],
    ["by number", {}, ["positionid"], 300],
    ["by number, turned", {}, ["-positionid"], 300],
    ["by order", {}, ["order__code"], 300],
    ["by order, turned", {}, ["-order__code"], 300],
    ["by e-mail address", {}, ["order__email"], 300],
    ["by e-mail address, turned", {}, ["-order__email"], 300],
    ["without a scan first", {}, ["last_checked_in"], 800],
    ["the newest scans first", {}, ["-last_checked_in"], 800],
  ])("behind a ticket far from both ends: few tickets are read, %s", async (_name, changes, ordering, most) => {
    const filter = await filterOf(place.event, changes);
    const [before = 0, ...wanted] = await reader.transaction(async (db) => {
      const count = await countPositions(db, filter);
      const offset = Math.floor((deep * count) / (large + 1));
      return pageIds(db, filter, { ordering, count, limit: 51, offset: offset - 1 });
    });
    const behind = await costOf(async (db) => {
      const reached = await findReached(db, filter, { ordering, ticket: before });
      return idsBehind(db, filter, { ordering, limit: 50, place: reached?.place ?? [] });
    });
    expect(behind.result).toEqual(wanted);
    expect(behind.rows).toBeLessThan(most);
  });
});

describe("pages of a large event", () => {
  it("are the same from both ends", async () => {
    const everything = await reader.transaction((db) =>
      db.many<{ id: number }>(sql`
        select position.id
          from position
         where position.organizer = ${place.organizer} and position.event = ${place.event}
         order by lower(position.attendee_name), position.positionid, position.id`),
    );
    for (const offset of [0, 50, 29_950, 30_000, 30_050, large - 50, large]) {
      const { result } = await page(place.event, {}, { offset });
      expect(result.ids).toEqual(everything.slice(offset, offset + 50).map(({ id }) => id));
    }
  });

  it.each<[string, string, number[]]>([
    ["the newest scans", "-last_checked_in", [0, 6000, 19_980]],
    ["the oldest scans", "last_checked_in", [large / 1.5 - 20, 50_000, large - 49]],
    ["names", "attendee_name", [0, 29_950, large - 49]],
    ["numbers", "positionid", [0, 29_950, large - 49]],
  ])("are those that sorting all tickets gives: %s", async (_name, ordering, offsets) => {
    for (const changes of [{}, { items: [[11]] }]) {
      const filter = await filterOf(place.event, changes);
      await reader.transaction(async (db) => {
        const count = await countPositions(db, filter);
        const ids = (await db.many<{ id: number }>(sql`select id from position where event = ${place.event}`)).map(
          (row) => row.id,
        );
        const sorted = await sortIds(db, filter, { ordering: [ordering], ids });
        for (const wanted of offsets) {
          const offset = Math.floor((wanted * count) / (large + 1));
          const found = await pageIds(db, filter, { ordering: [ordering], limit: 50, offset, count });
          expect([offset, found]).toEqual([offset, sorted.slice(offset, offset + 50)]);
        }
      });
    }
  });

  it("are judged by rules without being read twice", async () => {
    const filter = await filterOf(place.event, { usableAt: 0 });
    const { result, rows } = await costOf(async (db) => {
      const count = await countPositions(db, filter);
      return readRuled(db, filter, await pageIds(db, filter, { ordering: [], limit: 1000, offset: 0, count }));
    });
    expect(result).toHaveLength(1000);
    expect(rows).toBeLessThan(3100);
  });
});

it("first entries of a thousand tickets of a large event are read without its others", async () => {
  const ids = (
    await checkin.db.many<{ id: number }>(sql`
    select position.id
      from position
     where position.organizer = ${place.organizer} and position.event = ${place.event}
     order by position.id desc
     limit 1000`)
  ).map(({ id }) => id);
  const { result, rows } = await costOf((db) => readFirstEntries(db, place, ids));
  expect(new Set(result.map(({ position }) => position))).toEqual(new Set(ids.filter((id) => id % 3 === 0)));
  expect(rows).toBeLessThan(2100);
});

describe("searches in a large event", () => {
  it.each([
    ["what every ticket has", "@example", 500],
    ["what many tickets have", "anna", 500],
    ["short beginnings", "an", 500],
    ["what one ticket has", "59999@", 1],
    ["an address at a host that all have", "59999@example", 1],
    ["an address at another host", "59999@elsewhere", 0],
    ["what none has", "qqqqq", 0],
  ])("%s: they end early", async (_name, text, found) => {
    const { result, rows } = await search(place.event, text);
    expect(result).toHaveLength(found);
    expect(rows).toBeLessThan(35_000);
  });

  it("find the tickets of a list among many others", async () => {
    for (const few of [{ items: [[11]] }, { items: [[11]], hasCheckin: true }]) {
      const { result } = await search(place.event, "anna", few);
      expect(result).toHaveLength(500);
      expect(new Set(result).size).toBe(500);
    }
  });
});

describe("a small event beside a large one", () => {
  it.each<[string, Partial<PositionFilter>]>([
    ["a page", {}],
    ["paid tickets", { orderStatuses: ["paid"] }],
    ["tickets without a scan", { hasCheckin: false }],
    ["tickets of a voucher", { voucher: 3 }],
    ["a pseudonym", { pseudonymizationId: "small07" }],
    ["tickets that are usable", { usableAt: 0 }],
  ])("%s: its own tickets alone are read", async (_name, changes) => {
    const { rows } = await page("small0", changes);
    expect(rows).toBeLessThan(100);
  });

  it("a search: its own tickets alone are read", async () => {
    const { result, rows } = await search("small1", "anna");
    expect(result).toEqual([13]);
    expect(rows).toBeLessThan(100);
  });
});
