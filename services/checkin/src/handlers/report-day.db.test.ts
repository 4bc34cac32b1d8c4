import { sql } from "@tessera/kit/pg/sql";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type {
  ReportDayRequest,
  ReportDayResponse,
  ReportedScans,
} from "@tessera/protos/gen/ticketing/checkin/v1/day_report";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { topics } from "@tessera/protos/topics";
import { type Dice, rollFrom } from "@tessera/testkit/dice";
import { beforeEach, describe, expect, it } from "vitest";
import { followTickets } from "../store/day-reports.ts";
import { checkinDatabase } from "../testing/database.ts";
import { eventFact, itemFact, minute, noon, order, place, positionFact, subeventFact } from "../testing/facts.ts";
import { scan, startCheckin } from "../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);

const hour = 60 * minute;
const quarter = 15 * minute;

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true })]);
  await checkin.deliver(topics.subeventChanged, [subeventFact(1), subeventFact(2)]);
  const variation = { id: 5, value: { en: "Red" }, position: 1, checkinAttention: false };
  await checkin.deliver(topics.itemChanged, [itemFact(10, { variations: [variation] }), itemFact(11)]);
});

const report = (changes: Partial<ReportDayRequest> = {}) =>
  checkin.history.reportDay({ ...place, ...changes }, { timeoutMs: 20_000 });

interface StoredScan {
  readonly id: number;
  readonly at: number;
  readonly list: number;
  readonly position: number | null;
  readonly type: "entry" | "exit";
  readonly successful: boolean;
  readonly reason: string | null;
  readonly gate: number | null;
  readonly device: number | null;
}

interface StoredTicket {
  readonly id: number;
  readonly item: number;
  readonly variation: number | null;
  readonly subevent: number | null;
  readonly counted_as: string | null;
}

interface StoredList {
  readonly id: number;
  readonly all_products: boolean;
  readonly limit_products: readonly number[];
  readonly subevent: number | null;
  readonly include_pending: boolean;
}

/** Counts a day again, scan by scan. */
async function recount({
  since,
  before,
  ...asked
}: {
  since: number;
  before: number;
  list?: number;
  subevent?: number;
}) {
  const all = await db.many<StoredScan>(sql`
    select scan.id, scan.at, scan.list, scan.position, scan.type, scan.successful, scan.reason, scan.gate, scan.device_id as device
      from scan
     order by scan.at, scan.id`);
  const tickets = new Map(
    (
      await db.many<StoredTicket>(sql`
        select position.id, position.item, position.variation, position.subevent, position.counted_as from position`)
    ).map((ticket) => [ticket.id, ticket]),
  );
  const lists = await db.many<StoredList>(sql`
    select list.id, list.all_products, list.limit_products, list.subevent, list.include_pending from list`);
  const ticketOf = ({ position }: StoredScan) => (position === null ? undefined : tickets.get(position));
  const wanted = all.filter(
    (each) =>
      each.reason !== "annulled" &&
      (asked.list === undefined || each.list === asked.list) &&
      (asked.subevent === undefined || ticketOf(each)?.subevent === asked.subevent),
  );
  const insideAt = (end: number) => {
    let inside = 0;
    for (const list of lists) {
      const states = new Map<number, string>();
      for (const each of wanted) {
        const ticket = ticketOf(each);
        if (each.at >= end || each.list !== list.id || !each.successful || ticket === undefined) continue;
        const isCounted =
          ticket.counted_as !== null &&
          (ticket.counted_as !== "pending" || list.include_pending) &&
          (list.subevent === null || list.subevent === ticket.subevent) &&
          (list.all_products || list.limit_products.includes(ticket.item));
        if (isCounted) states.set(ticket.id, each.type);
      }
      inside += [...states.values()].filter((type) => type === "entry").length;
    }
    return inside;
  };
  const ofDay = wanted.filter(({ at }) => at >= since && at < before);
  const count = (some: readonly StoredScan[]): ReportedScans => ({
    entries: some.filter(({ successful, type }) => successful && type === "entry").length,
    exits: some.filter(({ successful, type }) => successful && type === "exit").length,
    refusals: some.filter(({ successful }) => !successful).length,
  });
  const grouped = (name: (each: StoredScan) => unknown, some = ofDay) =>
    Object.fromEntries([...Map.groupBy(some, name)].map(([key, each]) => [String(key), count(each)]));
  const starts = Array.from({ length: Math.ceil((before - since) / quarter) }, (_, index) => since + index * quarter);
  const ends = [since, ...new Set(ofDay.map(({ at }) => Math.floor((at - since) / 1e6) * 1e6 + since + 1e6))];
  const peak = Math.max(...ends.map(insideAt));
  return {
    quarters: starts.map((at) => ({
      at,
      scans: count(ofDay.filter((each) => each.at >= at && each.at < at + quarter)),
      inside: insideAt(at + quarter),
    })),
    insideBefore: insideAt(since),
    peak,
    peakAt: ends.find((end) => insideAt(end) === peak),
    entered: new Set(
      ofDay.filter(({ successful, type }) => successful && type === "entry").map((each) => each.position),
    ).size,
    firstAt: ofDay[0]?.at,
    lastAt: ofDay.at(-1)?.at,
    products: grouped((each) => `${ticketOf(each)?.item}/${ticketOf(each)?.variation ?? undefined}`),
    lists: grouped(({ list }) => list),
    gates: grouped(({ gate }) => gate ?? undefined),
    devices: grouped(({ device }) => device ?? undefined),
    reasons: grouped(
      ({ reason }) => reason,
      ofDay.filter(({ reason }) => reason !== null),
    ),
  };
}

/** The same of a report, without names and order. */
function plain(found: ReportDayResponse) {
  const { quarters, insideBefore, peak, peakAt, entered, firstAt, lastAt } = found;
  const places = (some: ReportDayResponse["lists"]) =>
    Object.fromEntries(some.map(({ id, scans }) => [String(id), scans]));
  return {
    quarters: quarters.map(({ at, scans, inside }) => ({ at, scans, inside })),
    ...{ insideBefore, peak, peakAt, entered, firstAt, lastAt },
    products: Object.fromEntries(found.products.map(({ item, variation, scans }) => [`${item}/${variation}`, scans])),
    ...{ lists: places(found.lists), gates: places(found.gates), devices: places(found.devices) },
    reasons: Object.fromEntries(
      found.reasons.map(({ reason, count }) => [reason, { entries: 0, exits: 0, refusals: count }]),
    ),
  };
}

/** Tickets that count on some lists, and on none. */
async function sell({ pick, below }: Dice): Promise<void> {
  await checkin.deliver(
    topics.positionChanged,
    Array.from({ length: 8 }, (_, index) => {
      const variation = below(2) === 0 ? { variation: 5 } : {};
      return positionFact(index + 1, {
        ...{
          secret: `t${index + 1}`,
          item: pick([10, 11]),
          subevent: pick([1, 2]),
          canceled: below(8) === 0,
          ...variation,
        },
        order: order({ status: pick([OrderStatus.PAID, OrderStatus.PAID, OrderStatus.PENDING, OrderStatus.EXPIRED]) }),
      });
    }),
  );
}

/** Scans of three days around a day, in any order; some are annulled. */
async function scanAround(day: { since: number; before: number }, lists: readonly number[], dice: Dice): Promise<void> {
  const { below, pick } = dice;
  const span = day.before - day.since + 2 * 12 * hour;
  const nonces: [number, string][] = [];
  const sent = Array.from({ length: 220 }, (_, nr) => {
    const [list, nonce] = [pick(lists), `nonce ${nr}`];
    // Many at the same second, and on the edges of quarters.
    const anywhere = day.since - 12 * hour + below(span / 1e6) * 1e6 + below(2) * 400_000;
    const onEdge = Math.floor(anywhere / quarter) * quarter;
    if (below(5) === 0) nonces.push([list, nonce]);
    return scan(list, below(8) === 0 ? "nobody's" : `t${1 + below(8)}`, {
      ...{ at: pick([anywhere, onEdge, onEdge]), nonce, force: below(2) === 0 },
      ...{ type: pick([ScanType.ENTRY, ScanType.ENTRY, ScanType.EXIT]) },
      ...{ ...(below(3) > 0 ? { gate: pick([1, 2]) } : {}), ...(below(3) > 0 ? { deviceId: pick([3, 4]) } : {}) },
    });
  });
  for (const each of sent) await checkin.redeem(each);
  for (const [list, nonce] of nonces) {
    const [stored] = await db.many<{ at: number; device: number | null }>(sql`
      select scan.at, scan.device_id as device from scan where scan.nonce = ${nonce} and scan.successful`);
    if (stored === undefined) continue;
    const { at, device } = stored;
    const ofDevice = device === null ? {} : { deviceId: device };
    await checkin.history.annulScan({ organizer: place.organizer, lists: [list], nonce, at, ...ofDevice });
  }
}

const days = [
  { timezone: "Europe/Berlin", date: "2026-11-20", since: "2026-11-19T23:00:00Z", quarters: 96 },
  { timezone: "Europe/Berlin", date: "2026-03-29", since: "2026-03-28T23:00:00Z", quarters: 92 },
  { timezone: "Europe/Berlin", date: "2026-10-25", since: "2026-10-24T22:00:00Z", quarters: 100 },
  { timezone: "Australia/Lord_Howe", date: "2026-10-04", since: "2026-10-03T13:30:00Z", quarters: 94 },
  { timezone: "Australia/Lord_Howe", date: "2026-04-05", since: "2026-04-04T13:00:00Z", quarters: 98 },
];

describe("the report of a day", () => {
  it.each(days)(
    "[C9.1, C9.2, C9.3, C9.4] says what a recount says: $timezone, $date",
    async ({ timezone, ...asked }) => {
      const dice = rollFrom(Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31)));
      await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: true, timezone, revision: 2 })]);
      const since = Date.parse(asked.since) * 1000;
      const day = { since, before: since + asked.quarters * quarter };
      const lists: number[] = [];
      for (const fields of [
        {},
        { allowMultipleEntries: true, includePending: true, subevent: 1 },
        { allProducts: false, limitProducts: [10], allowMultipleEntries: true },
      ])
        lists.push((await checkin.createList(fields)).id);
      await sell(dice);
      await scanAround(day, lists, dice);
      // What a list is for may change.
      await db.run(
        sql`update list set subevent = 2, all_products = false, limit_products = '{11}' where id = ${lists[0] ?? 0}`,
      );
      for (const filter of [{}, { list: lists[1] ?? 0 }, { subevent: 1 }, { list: lists[0] ?? 0, subevent: 2 }]) {
        const found = await report({ date: asked.date, ...filter });
        const what = `seed ${dice.seed}: ${JSON.stringify(filter)}`;
        expect(found.quarters, what).toHaveLength(asked.quarters);
        expect(plain(found), what).toEqual(await recount({ ...day, ...filter }));
      }
      // Of a day with very many scans.
      const all = { ...place, ...day, list: undefined, subevent: undefined };
      const parts = await Promise.all([0, 1, 2].map((part) => followTickets(db, all, { part, parts: 3 })));
      const whole = await followTickets(db, all, { part: 0, parts: 1 });
      const sum = ({ insideBefore, steps }: typeof whole) =>
        steps.reduce((total, { change }) => total + change, insideBefore);
      expect(
        parts.reduce((total, part) => total + sum(part), 0),
        `seed ${dice.seed}`,
      ).toBe(sum(whole));
    },
  );

  it("[C9.3] counts who is inside as the status of the lists does", async () => {
    const dice = rollFrom(Number(process.env["SEED"] ?? Math.floor(Math.random() * 2 ** 31)));
    const lists = [await checkin.createList(), await checkin.createList({ includePending: true, subevent: 2 })];
    await sell(dice);
    const since = Date.UTC(2026, 10, 20, 23) * 1000;
    await scanAround(
      { since, before: since + 24 * hour },
      lists.map(({ id }) => id),
      dice,
    );
    const status = await Promise.all(lists.map(({ id }) => checkin.lists.getCheckinListStatus({ ...place, id })));
    // Behind the last scan.
    const later = await report({ date: "2026-11-24" });
    const what = `seed ${dice.seed}`;
    expect(later.insideBefore, what).toBe(status.reduce((sum, { insideCount }) => sum + insideCount, 0));
    expect(
      later.quarters.every(({ inside }) => inside === later.insideBefore),
      what,
    ).toBe(true);
    const ofList = await report({ date: "2026-11-24", list: lists[0]?.id ?? 0 });
    expect(ofList.insideBefore, what).toBe(status[0]?.insideCount);
  });

  it("[C9.5] is of today, else of the last day with scans", async () => {
    const list = (await checkin.createList()).id;
    await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
    expect((await report()).date).toBe("2026-11-21");
    await checkin.redeem(scan(list, "secret1", { at: noon - 50 * hour }));
    // A clock that is ahead.
    await checkin.redeem(scan(list, "secret2", { at: noon + 50 * hour }));
    expect(await report()).toMatchObject({ date: "2026-11-19", entered: 1, insideBefore: 0, peak: 1 });
    await checkin.redeem(scan(list, "nobody's"));
    expect(await report()).toMatchObject({ date: "2026-11-21", entered: 0, insideBefore: 1 });
  });

  it("[C9.2] names products, variations and lists, most scans first, and says when a quarter begins", async () => {
    const list = (await checkin.createList({ name: "Door" })).id;
    await checkin.deliver(topics.positionChanged, [
      positionFact(1, { variation: 5 }),
      positionFact(2, { variation: 5 }),
    ]);
    await checkin.redeemAll(["secret1", "secret2", "nobody's"].map((code) => scan(list, code)));
    const found = await report({ date: "2026-11-21", list });
    expect(found).toMatchObject({
      ...{ timezone: "Europe/Berlin", eventName: "Sample Conf", locale: "en", listName: "Door" },
      products: [
        { itemName: "Item 10", variationName: "Red", scans: { entries: 2, exits: 0, refusals: 0 }, entered: 2 },
        { scans: { entries: 0, exits: 0, refusals: 1 }, entered: 0 },
      ],
      lists: [{ id: list, name: "Door" }],
      reasons: [{ reason: "invalid", count: 1 }],
    });
    expect(found.quarters[1]).toMatchObject({ at: noon - 13 * hour + quarter, local: "00:15" });
    const night = await report({ date: "2026-10-25" });
    expect(night.quarters.slice(8, 16).map(({ local }) => local)).toEqual([
      ...["02:00", "02:15", "02:30", "02:45", "02:00", "02:15", "02:30", "02:45"],
    ]);
  });

  it.each<[Partial<ReportDayRequest>, string]>([
    [{ date: "2026-02-30" }, "date"],
    [{ date: "today" }, "date"],
    [{ date: "0001-01-01" }, "date"],
    [{ list: 99 }, "list"],
    [{ subevent: 99 }, "subevent"],
  ])("[C9.6] refuses %o", async (changes, field) => {
    await expect(report(changes)).rejects.toMatchObject({ fields: { [field]: [expect.any(String)] } });
  });

  it("[C9.1] of an event without scans is a day of zeros", async () => {
    const found = await report({ date: "2026-11-21" });
    expect(found).toMatchObject({ entered: 0, insideBefore: 0, peak: 0, peakAt: noon - 13 * hour, products: [] });
    expect([found.firstAt, found.lastAt]).toEqual([undefined, undefined]);
    expect(found.quarters).toHaveLength(96);
  });
});
