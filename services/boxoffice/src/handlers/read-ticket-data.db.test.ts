import { openDatabase } from "@tessera/kit/pg/database";
import { shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import type { Document, ReadTicketDataRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/ticket_data";
import { topics } from "@tessera/protos/topics";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { answersFact, deliverAnswers, given } from "../testing/given-at-gate.ts";
import { festival, position, sample } from "../testing/records.ts";
import { readTicketData } from "./read-ticket-data.ts";

const { database, db } = await boxofficeDatabase();
const reads = shareReads(db);
const office = boxOfficeOn(db);
const checkins = [{ id: 5, list: 1, datetime: "2026-01-01T10:00:00Z" }];

beforeEach(async () => {
  await emptyTables(db);
  const applied = await office.apply(
    ...festival,
    sample.category({ id: 7, name: { en: "Passes" } }),
    sample.item({ id: 2, name: { en: "Pass" }, category: 7 }),
    sample.item({ id: 3, name: { en: "Unsold" } }),
    sample.question({ id: 4, identifier: "DIET", type: "S" }),
    sample.seat({ id: 9, seat_guid: "A-1", zone_name: "Stalls" }),
    sample.order({
      code: "FIRST",
      phone: "+4930123456",
      comment: "bought at the counter",
      secret: "of-the-order",
      positions: [
        position({ id: 1, item: 1, seat: "A-1", checkins, answers: [{ question: 4, answer: "vegan" }] }),
        position({ id: 2, positionid: 2, item: 2, addon_to: 1, secret: "second" }),
        position({ id: 3, positionid: 3, item: 1, canceled: true, secret: "third" }),
      ],
    }),
    sample.order({ code: "OTHER", sales_channel: "web", positions: [position({ id: 4, secret: "fourth" })] }),
  );
  expect(applied).toEqual({});
});

function read(positions: readonly number[], rest: Partial<ReadTicketDataRequest> = {}) {
  const request = { organizer: "org", event: "fest", onlyReferences: false, ...rest };
  return readTicketData({ ...request, positions: [...positions] }, { reads });
}
const parse = ({ key, json }: Document): object => ({ key, ...JSON.parse(Buffer.from(json).toString()) });

describe("data of tickets", () => {
  it("are what exists, in the order of the request, without canceled positions", async () => {
    const { tickets, answered } = await read([4, 3, 99, 2, 4]);
    expect(tickets.map(({ position: id, order, item, salesChannel }) => [id, order, item, salesChannel])).toEqual([
      [4, "OTHER", 1, "web"],
      [2, "FIRST", 2, "web"],
      [4, "OTHER", 1, "web"],
    ]);
    expect(answered).toBe(5);
  });

  it("have all positions of an order once, with seats and answers, canceled ones too, without scans", async () => {
    const { positions } = await read([1, 2]);
    const facts = positions.map((fact) => topics.positionChanged.decode(fact));
    expect(facts.map(({ position: each }) => [each?.id, each?.canceled])).toEqual([
      [1, false],
      [2, false],
      [3, true],
    ]);
    expect(facts[0]?.position).toMatchObject({ seat: { zoneName: "Stalls" }, answers: [{ answer: "vegan" }] });
    expect(facts[0]?.earlierCheckins).toEqual([]);
  });

  it("have what a gate answered", async () => {
    await deliverAnswers(db, answersFact([given(4, 1, "anything")]));
    const { positions } = await read([1]);
    const [first] = positions.map((fact) => topics.positionChanged.decode(fact));
    expect(first?.position?.answers).toMatchObject([{ answer: "anything" }]);
  });

  it("have the documents that their positions refer to, and no others but questions", async () => {
    const { orders, items, categories, questions, subevents } = await read([2, 4]);
    expect(items.map(parse)).toMatchObject([
      { key: "1", name: { en: "Ticket" } },
      { key: "2", name: { en: "Pass" } },
    ]);
    expect(categories.map(parse)).toMatchObject([{ key: "7", name: { en: "Passes" } }]);
    expect(questions.map(parse)).toMatchObject([{ key: "4", identifier: "DIET" }]);
    expect(subevents).toEqual([]);
    expect(orders.map(parse)).toMatchObject([{ key: "FIRST", phone: "+4930123456" }, { key: "OTHER" }]);
    for (const field of ["positions", "fees", "comment", "secret"]) {
      expect(orders.map(parse)[0]).not.toHaveProperty(field);
    }
  });

  it("have the event with its organizer, and settings with all defaults", async () => {
    await office.apply(sample.eventSettings({ timezone: "Europe/Berlin", region: "AT" }));
    const { organizer, event, settings } = await read([4]);
    const [whose, what, how] = [organizer, event, settings].map((json) => JSON.parse(Buffer.from(json).toString()));
    expect(whose).toMatchObject({ slug: "org", name: "Organizer" });
    expect(what).toMatchObject({ slug: "fest", timezone: "Europe/Berlin", currency: "EUR" });
    expect(how).toMatchObject({ region: "AT", name_scheme: "full", show_date_to: true, locale: "en" });
  });

  it("have the date of a series", async () => {
    const series = { event: "series" };
    const records = [
      sample.event({ slug: "series", has_subevents: true }),
      sample.subevent({ id: 6 }),
      sample.subevent({ id: 7 }),
      sample.item(),
      sample.order({ positions: [position({ subevent: 6 })] }),
    ];
    expect(await office.apply(...records.map((each) => ({ ...each, ...series })))).toEqual({});
    const { subevents } = await read([1], series);
    expect(subevents.map(({ key }) => key)).toEqual(["6"]);
  });

  it("have the linked medium with the smallest id, of this event and organizer", async () => {
    const linked = (id: number, identifier: string, links: readonly object[]) =>
      sample.medium({ id, identifier, linked_orderpositions: links });
    const here = { id: 4, event: "fest" };
    const elsewhere = [
      { ...sample.organizer({ slug: "other" }), organizer: "other" },
      { ...sample.event(), organizer: "other" },
      { ...sample.item(), organizer: "other" },
      { ...sample.order({ positions: [position({ id: 4 })] }), organizer: "other" },
      { ...linked(1, "THEIRS", [here]), organizer: "other" },
      { ...sample.event({ slug: "second" }), event: "second" },
      { ...sample.item(), event: "second" },
      { ...sample.order({ positions: [position({ id: 4 })] }), event: "second" },
      linked(2, "SECOND", [{ id: 4, event: "second" }]),
      linked(9, "LATER", [here]),
      linked(8, "FIRST", [{ id: 1, event: "fest" }, here]),
    ];
    expect(await office.apply(...elsewhere)).toEqual({});
    const { media } = await read([4, 2, 1]);
    expect(media.toSorted((one, other) => one.position - other.position)).toEqual([
      { position: 1, identifier: "FIRST" },
      { position: 4, identifier: "FIRST" },
    ]);
  });

  it.each([
    ["another organizer", { organizer: "other" }],
    ["another event", { event: "second" }],
    ["a slash", { organizer: "org/fest", event: "" }],
    ["a null character", { event: "fest\0" }],
  ])("are not found by %s", async (_name, place) => {
    expect(await read([1, 4], place)).toMatchObject({ tickets: [], positions: [], orders: [], answered: 2 });
  });

  it("are not found once their event is removed", async () => {
    await db.run(sql`update event set is_removed = true where event.slug = 'fest'`);
    expect((await read([1, 4])).tickets).toEqual([]);
  });

  it("may be references alone", async () => {
    const answer = await read([1, 4], { onlyReferences: true });
    expect(answer.tickets).toHaveLength(2);
    expect(answer.positions).toEqual([]);
    expect(answer.event).toHaveLength(0);
  });

  it("may be of the newest tickets, and are answered for an event without any", async () => {
    const { tickets, answered, items } = await read([], { newest: 2 });
    expect([tickets.map(({ position: id }) => id), answered, items.length]).toEqual([[4, 2], 2, 2]);
    expect((await read([], { newest: 1000 })).tickets.map(({ position: id }) => id)).toEqual([4, 2, 1]);
    const empty = sample.event({ slug: "empty" });
    expect(await office.apply({ ...empty, event: "empty" })).toEqual({});
    const answer = await read([], { newest: 10, event: "empty" });
    expect([answer.tickets, answer.answered]).toEqual([[], 0]);
    expect(JSON.parse(Buffer.from(answer.event).toString())).toMatchObject({ slug: "empty" });
    await expect(read([], { newest: 1, event: "none" })).rejects.toMatchObject({ code: "no_such_event" });
    await expect(read([], { newest: 1001 })).rejects.toMatchObject({ code: "too_many_tickets" });
  });

  it("are asked for by at most 1000 positions", async () => {
    const ids = Array.from({ length: 1001 }, (_, index) => index + 1);
    await expect(read(ids)).rejects.toMatchObject({ kind: "invalid", code: "too_many_tickets" });
    expect((await read(ids.slice(1))).tickets.map(({ position: id }) => id)).toEqual([2, 4]);
    expect(await read([])).toMatchObject({ tickets: [], answered: 0 });
  });
});

it("data of tickets are those of one moment, whatever changes while they are read", async () => {
  const log = createLog({ service: "test", destination: { write: () => {} } });
  const options = { url: database.url, schema: "boxoffice", applicationName: "reads", readOnly: true, log };
  const slow = openDatabase(options);
  let changes = 0;
  const change = async () => {
    changes += 1;
    const order = { code: "OTHER", phone: "+4930999999", positions: [position({ id: 4, item: 2, secret: "fourth" })] };
    await office.apply(sample.item({ id: 2, name: { en: "Renamed" } }), sample.order(order));
  };
  const interrupted = shareReads({
    ...slow,
    transaction: (work) =>
      slow.transaction((tx) =>
        work({
          ...tx,
          async many<Row>(statement: Parameters<typeof tx.many>[0]) {
            const rows = await tx.many<Row>(statement);
            await change();
            return rows;
          },
        }),
      ),
  });
  try {
    const request = { organizer: "org", event: "fest", positions: [4], onlyReferences: false };
    const { tickets, items, orders } = await readTicketData(request, { reads: interrupted });
    expect(changes).toBeGreaterThan(1);
    expect(tickets).toMatchObject([{ position: 4, item: 1 }]);
    expect(items.map(({ key }) => key)).toEqual(["1"]);
    expect(orders.map(parse)[0]).not.toHaveProperty("phone");
  } finally {
    await slow.close();
  }
  expect((await read([4])).items.map(parse)).toMatchObject([{ key: "2", name: { en: "Renamed" } }]);
});

describe("an answer that would be too large", () => {
  const large = (code: string, first: number, { answers = 50 } = {}) =>
    sample.order({
      code,
      positions: Array.from({ length: 10 }, (_, index) =>
        position({
          id: first + index,
          positionid: index + 1,
          secret: `${code}-${index}`,
          answers: Array.from({ length: answers }, () => ({ question: 4, answer: "x".repeat(12_000) })),
        }),
      ),
    });

  it("ends before the first order that does not fit, and the rest is asked for again", async () => {
    expect(await office.apply(large("LARGE", 100), large("MORE", 200), large("LAST", 300))).toEqual({});
    const ids = [4, 100, 101, 200, 4, 300, 102];
    const first = await read(ids);
    expect(first.tickets.map(({ position: id }) => id)).toEqual([4, 100, 101, 200, 4]);
    expect(first.answered).toBe(5);
    expect(first.orders.map(({ key }) => key)).toEqual(["OTHER", "LARGE", "MORE"]);
    const second = await read(ids.slice(5));
    expect(second.tickets.map(({ position: id }) => id)).toEqual([300, 102]);
    expect(second.answered).toBe(2);
  });

  it("[L48.8] is a fault for an order that does not fit alone, unless any of the newest tickets serve", async () => {
    expect(await office.apply(large("LARGE", 100, { answers: 130 }))).toEqual({});
    await expect(read([100])).rejects.toMatchObject({ code: "order_too_large" });
    expect((await read([4, 100])).answered).toBe(1);
    expect((await read([], { newest: 1 })).tickets).toMatchObject([{ position: 4 }]);
    expect((await read([], { newest: 1000 })).tickets.map(({ position: id }) => id)).toEqual([4, 2, 1]);
    const alone = large("LARGE", 100, { answers: 130 });
    const other = [
      sample.event({ slug: "second" }),
      sample.item(),
      sample.question({ id: 4, identifier: "DIET", type: "S" }),
      alone,
    ];
    expect(await office.apply(...other.map((each) => ({ ...each, event: "second" })))).toEqual({});
    const answer = await read([], { newest: 1, event: "second" });
    expect([answer.tickets, answer.positions, answer.event.length > 0]).toEqual([[], [], true]);
  });
});

describe("data of a thousand tickets", () => {
  const numbers = Array.from({ length: 1000 }, (_, index) => index + 1000);

  beforeEach(async () => {
    const single = numbers.slice(0, 500).map((id) => sample.order({ code: `A${id}`, positions: [sold(id)] }));
    const group = sample.order({ code: "GROUP", positions: numbers.slice(500).map(sold) });
    expect(await office.apply(...single, group)).toEqual({});
    await db.run(sql`analyze`);
  });
  const sold = (id: number) => position({ id, positionid: id, secret: `secret ${id}` });

  it("are one answer, also where an order has hundreds of them", async () => {
    const { tickets, answered, positions, orders } = await read(numbers);
    expect(tickets.map(({ position: id }) => id)).toEqual(numbers);
    expect(answered).toBe(1000);
    expect(positions).toHaveLength(1000);
    expect(orders).toHaveLength(501);
  });

  it("are found by indexes, however large the event is", async () => {
    await db.run(sql`
      insert into position (organizer, event, id, order_code, positionid, item, secret, canceled, state, revision)
      select 'org', 'fest', 100000 + number, 'BULK', number, 1, 'bulk ' || number, false, ''::bytea, 1
        from generate_series(1, 5000) as number`);
    await db.run(sql`
      insert into reusable_medium (organizer, id, data, revision)
      select 'org', number, jsonb_build_object('type', 'nfc_uid', 'identifier', 'M' || number, 'linked_orderpositions',
               jsonb_build_array(jsonb_build_object('event', 'fest', 'id', 100000 + number))), 1
        from generate_series(1, 3000) as number`);
    await db.run(sql`analyze`);
    const before = await scans();
    const { media } = await read([...numbers.slice(0, 10), 100_001]);
    expect(media).toEqual([]);
    await read([], { newest: 100, onlyReferences: true });
    expect(await scans()).toEqual(before);
  });

  /** How many sequential scans large tables had. */
  async function scans() {
    await db.run(sql`select pg_stat_force_next_flush()`);
    return db.many(sql`
      select stats.relname, stats.seq_scan
        from pg_stat_user_tables as stats
       where stats.relname in ('position', 'order', 'reusable_medium')
       order by stats.relname`);
  }
});
