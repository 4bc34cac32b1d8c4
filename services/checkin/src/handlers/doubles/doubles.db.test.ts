import { sql } from "@tessera/kit/pg/sql";
import type { BlockedSecretChanged, PositionChanged } from "@tessera/protos/gen/ticketing/boxoffice/v1/facts";
import { OrderStatus } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import type { Double, DoubleFilter } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { ScanType } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { Scan } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { topics } from "@tessera/protos/topics";
import { beforeEach, describe, expect, it } from "vitest";
import { checkinDatabase } from "../../testing/database.ts";
import {
  blockedSecretFact,
  earlierCheckin,
  eventFact,
  itemFact,
  minute,
  order,
  place,
  positionFact,
  revokedSecretFact,
} from "../../testing/facts.ts";
import { inWord, scan, startCheckin } from "../../testing/start-checkin.ts";

const { db } = await checkinDatabase();
const checkin = await startCheckin(db);
let list: number;

beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
  await checkin.deliver(
    topics.positionChanged,
    [1, 2, 3, 4].map((id) => positionFact(id)),
  );
  list = (await checkin.createList()).id;
});

/** Scans come at the time of the database. */
const now = () => Date.now() * 1000;
const start = now() - 60 * minute;

/** A scan so many minutes after the start, by a device without a network. */
const offline = (at: number, deviceId: number, changes: Partial<Scan> = {}): Scan =>
  scan(list, "secret1", { at: start + at * minute, deviceId, gate: deviceId + 100, force: true, ...changes });
const exit = { type: ScanType.EXIT } as const;

async function send(...scans: readonly Scan[]): Promise<void> {
  for (const each of scans) expect(inWord(await checkin.redeem(each))).toBe("admitted");
}

async function read(filter: Partial<DoubleFilter> = {}, ordering: string[] = []): Promise<Double[]> {
  const { doubles, count } = await checkin.doubles.listDoubles({ ...place, filter, page: 1, pageSize: 50, ordering });
  expect(count).toBe(doubles.length);
  return doubles;
}

/** In minutes after the start: the later scan with its device, the earlier one, and why. */
const ledger = async (filter: Partial<DoubleFilter> = {}, ordering: string[] = []) =>
  (await read(filter, ordering)).map(inShort);

const inShort = ({ scan: later, earlier, position, reasons }: Double) => ({
  ticket: position,
  scans: [earlier, later].flatMap((each) =>
    each?.checkin === undefined ? [] : [[(each.checkin.at - start) / minute, each.checkin.deviceId ?? null]],
  ),
  reasons,
});

const asDouble = (...scans: readonly (readonly [number, number | null])[]) => ({
  ticket: 1,
  scans,
  reasons: ["already_redeemed"],
});

describe("two islands without a network", () => {
  it.each([
    ["in the order of time", [0, 1, 2]],
    ["in the other order", [2, 1, 0]],
    ["in no order", [1, 2, 0]],
  ])("[F3.2, F3.5] have the same doubles in whatever order they upload: %s", async (_name, inOrder) => {
    const scans = [offline(0, 1), offline(5, 2), offline(9, 3)];
    for (const index of inOrder) await send(scans[index] ?? offline(0, 1));
    expect(await ledger()).toEqual(expect.arrayContaining([asDouble([0, 1], [5, 2]), asDouble([5, 2], [9, 3])]));
    expect(await ledger()).toHaveLength(2);
  });

  it("[F3.2] that do not force their uploads have them, too: an entry may be older than an exit that came before it", async () => {
    const unforced = { force: false };
    await send(offline(0, 1, unforced), offline(9, 1, { ...exit, ...unforced }), offline(5, 2, unforced));
    expect(await ledger()).toEqual([asDouble([0, 1], [5, 2])]);
  });

  it("[F3.2] are a double where the first scan came late, and the second gate had a network", async () => {
    await send(scan(list, "secret1", { deviceId: 2 }));
    await db.run(sql`update scan set at = created_at - interval '2 seconds'`);
    await send(offline(0, 1));
    expect(await read()).toMatchObject([
      { earlier: { checkin: { deviceId: 1, gate: 101 } }, scan: { checkin: { deviceId: 2 } } },
    ]);
  });

  it("[F3.5] are none where a late exit stands between their scans, or one of these is taken back", async () => {
    await send(offline(0, 1, { nonce: "first" }), offline(5, 2, { nonce: "second" }));
    expect(await ledger()).toHaveLength(1);
    await send(offline(2, 1, exit));
    expect(await ledger()).toEqual([]);
    await send(offline(7, 3, { nonce: "third" }));
    expect(await ledger()).toEqual([asDouble([5, 2], [7, 3])]);
    const annul = (nonce: string, at: number, deviceId: number) =>
      checkin.history.annulScan({
        ...{ organizer: place.organizer, lists: [list], nonce, deviceId },
        at: start + (at + 1) * minute,
      });
    await annul("third", 7, 3);
    expect(await ledger()).toEqual([]);
  });

  it("[F3.5] are one where the exit between their scans is taken back", async () => {
    await send(offline(0, 1), offline(2, 1, { ...exit, nonce: "out" }), offline(5, 2, { force: false }));
    expect(await ledger()).toEqual([]);
    await checkin.history.annulScan({
      ...{ organizer: place.organizer, lists: [list], nonce: "out", deviceId: 1 },
      at: start + 3 * minute,
    });
    expect(await ledger()).toEqual([asDouble([0, 1], [5, 2])]);
  });
});

describe("[F3.3] no double is", () => {
  it("a scan that is sent again, or one device that repeats itself", async () => {
    await send(offline(0, 1, { nonce: "n" }), offline(0, 1, { nonce: "n" }), offline(0, 2, { nonce: "n" }));
    await send(offline(1, 1, { nonce: "m" }));
    expect(await ledger()).toEqual([]);
  });

  it("an entry that its list allows: a second one, or one behind an exit", async () => {
    const often = (await checkin.createList({ allowMultipleEntries: true })).id;
    await send(offline(0, 1, { list: often }), offline(5, 2, { list: often }));
    await send(offline(0, 1), offline(2, 1, exit), offline(5, 2));
    expect(await ledger()).toEqual([]);
    const ever = (await checkin.createList({ allowEntryAfterExit: false })).id;
    await send(offline(0, 1, { list: ever }), offline(2, 1, { list: ever, ...exit }), offline(5, 2, { list: ever }));
    expect(await ledger()).toEqual([asDouble([0, 1], [5, 2])]);
  });

  it("an entry that its list forbids only since then", async () => {
    const often = await checkin.createList({ allowMultipleEntries: true });
    await send(offline(0, 1, { list: often.id }), offline(5, 2, { list: often.id }), offline(3, 3, { list: often.id }));
    const fields = { ...often.fields, allowMultipleEntries: false } as NonNullable<typeof often.fields>;
    await checkin.lists.updateCheckinList({ ...place, id: often.id, fields, updateMask: ["allow_multiple_entries"] });
    expect(await ledger()).toEqual([]);
  });

  it("what somebody decided who could know: a forced scan with a network", async () => {
    await send(scan(list, "secret1", { deviceId: 1, at: now() - 5_000_000 }));
    await db.run(sql`update scan set created_at = at`);
    await send(scan(list, "secret1", { deviceId: 2, at: now(), force: true }));
    expect(await db.many(sql`select overruled from scan order by id`)).toEqual([
      { overruled: null },
      { overruled: "already_redeemed" },
    ]);
    expect(await ledger()).toEqual([]);
  });

  it("what was decided elsewhere: scans that came with a record, unless one of them was known when another came here", async () => {
    const made = [
      earlierCheckin(70, { list, at: start }),
      earlierCheckin(71, { list, at: start + minute, deviceId: 7 }),
    ];
    await checkin.deliver(topics.positionChanged, [positionFact(1, {}, { revision: 2, earlierCheckins: made })]);
    expect(await ledger()).toEqual([]);
    await send(offline(5, 2));
    expect(await ledger()).toEqual([asDouble([1, 7], [5, 2])]);
  });

  it("a refused scan", async () => {
    await send(offline(0, 1));
    expect(inWord(await checkin.redeem(offline(5, 2, { force: false })))).toBe("already_redeemed");
    expect(await ledger()).toEqual([]);
  });
});

describe("a ticket that was not to be admitted at all", () => {
  const blocked = (fact: PositionChanged, secrets: BlockedSecretChanged[] = []) => ({ fact, secrets });

  it.each<[string, Parameters<typeof blocked>]>([
    ["canceled", [positionFact(1, { order: order({ status: OrderStatus.CANCELED }) }, { revision: 2 })]],
    ["canceled", [positionFact(1, { order: order({ status: OrderStatus.EXPIRED }) }, { revision: 2 })]],
    ["unpaid", [positionFact(1, { order: order({ status: OrderStatus.PENDING }) }, { revision: 2 })]],
    ["blocked", [positionFact(1, { blocked: ["admin"] }, { revision: 2 })]],
    ["invalid_time", [positionFact(1, { validUntil: start - minute }, { revision: 2 })]],
  ])("[F3.4] is a double by itself where it was forced without a network: %s", async (reason, [fact]) => {
    await checkin.deliver(topics.positionChanged, [fact]);
    await send(offline(5, 1));
    expect(await ledger()).toEqual([{ ticket: 1, scans: [[5, 1]], reasons: [reason] }]);
    await send(offline(6, 2));
    expect(await ledger({}, ["datetime"])).toEqual([
      { ticket: 1, scans: [[5, 1]], reasons: [reason] },
      {
        ticket: 1,
        scans: [
          [5, 1],
          [6, 2],
        ],
        reasons: [reason, "already_redeemed"],
      },
    ]);
    await send(scan(list, "secret1", { deviceId: 3, at: now(), force: true }));
    expect(await ledger()).toHaveLength(2);
  });

  it("[F3.4] says so of a list for other products, of rules, and of codes that were revoked or blocked", async () => {
    const narrow = (await checkin.createList({ allProducts: false, limitProducts: [] })).id;
    const ruled = (await checkin.createList({ rules: '{"==":[0,1]}' })).id;
    await checkin.deliver(topics.revokedSecretChanged, [revokedSecretFact(1, { secret: "former", position: 2 })]);
    await checkin.deliver(topics.blockedSecretChanged, [blockedSecretFact(1, { secret: "secret3" })]);
    await send(offline(0, 1, { list: narrow }), offline(0, 1, { list: ruled }));
    await send(offline(0, 1, { lookup: "former" }), offline(0, 1, { lookup: "secret3" }));
    expect((await ledger()).map(({ ticket, reasons }) => [ticket, ...reasons]).toSorted()).toEqual([
      [1, "product"],
      [1, "rules"],
      [2, "revoked"],
      [3, "blocked"],
    ]);
  });
});

describe("the ledger", () => {
  it("[F3.6] shows both scans whole, the ticket, and since when it can be known", async () => {
    await send(offline(0, 1), offline(5, 2));
    const [first, second] = await db.many<{ id: number; created: number }>(
      sql`select id, created_at as created from scan order by id`,
    );
    const shown = { list, type: ScanType.ENTRY, autoCheckedIn: false };
    const double = {
      earlier: {
        checkin: { ...shown, id: first?.id, at: start, gate: 101, device: 1, deviceId: 1 },
        createdAt: first?.created,
      },
      scan: {
        checkin: { ...shown, id: second?.id, at: start + 5 * minute, gate: 102, device: 2, deviceId: 2 },
        createdAt: second?.created,
      },
      ...{ position: 1, orderCode: "ABC01", positionid: 1, reasons: ["already_redeemed"] },
      createdAt: second?.created,
    };
    expect(await read()).toEqual([double]);
    expect(await checkin.doubles.getDouble({ ...place, id: second?.id ?? 0 })).toEqual({ double });
  });

  /** A double of ticket 1 on the first list, of 2 and 3 on another, and a canceled 4; one device has a part in three. */
  async function fill(): Promise<number> {
    const other = (await checkin.createList()).id;
    await send(offline(0, 1), offline(5, 2));
    await send(offline(1, 1, { lookup: "secret2", list: other }), offline(2, 3, { lookup: "secret2", list: other }));
    await send(offline(30, 4, { lookup: "secret3", list: other, gate: undefined, deviceId: undefined }));
    await send(offline(40, 1, { lookup: "secret3", list: other }));
    await checkin.deliver(topics.positionChanged, [
      positionFact(4, { order: order({ status: OrderStatus.CANCELED }) }, { revision: 2 }),
    ]);
    await send(offline(50, 5, { lookup: "secret4" }));
    await db.run(sql`
      update scan
         set created_at = ${new Date(start / 1000).toISOString()}::timestamptz + interval '1 hour' + position * interval '1 minute'`);
    return other;
  }

  it("[F3.7] is filtered by list, ticket, device, gate, reason and time", async () => {
    const other = await fill();
    const wanted: [DoubleFilter, number[]][] = [
      [{}, [1, 2, 3, 4]],
      [{ list }, [1, 4]],
      [{ list: other }, [2, 3]],
      [{ position: 2 }, [2]],
      [{ device: 1 }, [1, 2, 3]],
      [{ device: 3 }, [2]],
      [{ device: 77 }, []],
      [{ gate: 102 }, [1]],
      [{ reason: "already_redeemed" }, [1, 2, 3]],
      [{ reason: "canceled" }, [4]],
      [{ explained: false }, [1, 2, 3, 4]],
      [{ explained: true }, []],
      [{ createdSince: start + 62 * minute, createdBefore: start + 64 * minute }, [2, 3]],
      [{ atSince: start + 5 * minute, atBefore: start + 50 * minute }, [1, 3]],
      [{ device: 1, list: other, atBefore: start + 40 * minute }, [2]],
    ];
    for (const [filter, tickets] of wanted)
      expect([filter, (await ledger(filter)).map(({ ticket }) => ticket)]).toEqual([filter, tickets]);
    for (const filter of [{ list: 999 }, { position: 999 }, { list: 999, position: 999 }])
      await expect(read(filter)).rejects.toMatchObject({
        code: "invalid_filter",
        fields: Object.fromEntries(Object.keys(filter).map((name) => [name, expect.anything()])),
      });
  });

  it("[F3.6] comes in pages, in the order of the time when each became known, or as asked", async () => {
    await fill();
    const tickets = async (...ordering: string[]) => (await ledger({}, ordering)).map(({ ticket }) => ticket);
    expect(await tickets()).toEqual([1, 2, 3, 4]);
    expect(await tickets("-created")).toEqual([4, 3, 2, 1]);
    expect(await tickets("datetime")).toEqual([2, 1, 3, 4]);
    expect(await tickets("-id")).toEqual([4, 3, 2, 1]);
    const page = { ...place, filter: {}, ordering: [], pageSize: 3 };
    const second = await checkin.doubles.listDoubles({ ...page, page: 2 });
    expect([second.count, second.page, second.doubles.map(({ position }) => position)]).toEqual([4, 2, [4]]);
    await expect(checkin.doubles.listDoubles({ ...page, page: 3 })).rejects.toMatchObject({ code: "page_not_found" });
  });

  it("[F3.8] is counted for each device and each gate that made one of the scans, most first", async () => {
    const other = await fill();
    const [first] = await read({ position: 1 });
    await checkin.doubles.explainDouble({ ...place, id: first?.scan?.checkin?.id ?? 0, text: "A copy.", by: "Ann" });
    const none = { explained: 0 };
    expect(await checkin.doubles.countDoubles({ ...place, filter: {} })).toEqual({
      count: 4,
      explained: 1,
      devices: [
        { id: 1, count: 3, explained: 1 },
        { count: 1, ...none },
        { id: 2, count: 1, explained: 1 },
        { id: 3, count: 1, ...none },
        { id: 5, count: 1, ...none },
      ],
      gates: [
        { id: 101, count: 3, explained: 1 },
        { count: 1, ...none },
        { id: 102, count: 1, explained: 1 },
        { id: 103, count: 1, ...none },
        { id: 105, count: 1, ...none },
      ],
    });
    expect(await checkin.doubles.countDoubles({ ...place, filter: { list: other, explained: true } })).toEqual({
      ...{ count: 0, explained: 0, devices: [], gates: [] },
    });
  });

  it("[F3.12] of another organizer or event does not exist", async () => {
    const others = { organizer: "others", event: place.event };
    await checkin.deliver(topics.eventChanged, [eventFact(others)]);
    await checkin.deliver(topics.positionChanged, [{ ...positionFact(1), ...others }]);
    const theirs = (await checkin.lists.createCheckinList({ ...others, fields: (await checkin.createList()).fields }))
      .list;
    await send(offline(0, 1), offline(5, 2));
    await send(
      offline(0, 1, { ...others, list: theirs?.id ?? 0 }),
      offline(7, 2, { ...others, list: theirs?.id ?? 0 }),
    );
    const page = { filter: {}, page: 1, pageSize: 50, ordering: [] };
    const their = (await checkin.doubles.listDoubles({ ...others, ...page })).doubles;
    expect([await ledger(), their.map(inShort)]).toEqual([[asDouble([0, 1], [5, 2])], [asDouble([0, 1], [7, 2])]]);
    const id = their[0]?.scan?.checkin?.id ?? 0;
    const unknown = { code: "double_not_found" };
    await expect(checkin.doubles.getDouble({ ...place, id })).rejects.toMatchObject(unknown);
    await expect(checkin.doubles.explainDouble({ ...place, id, text: "x", by: "y" })).rejects.toMatchObject(unknown);
    await expect(read({ list: theirs?.id ?? 0 })).rejects.toMatchObject({ code: "invalid_filter" });
    await expect(checkin.doubles.listDoubles({ organizer: "nobody", event: "nothing", ...page })).rejects.toMatchObject(
      { code: "event_not_found" },
    );
  });
});

describe("an explanation of a double", () => {
  const idOf = async () => (await read())[0]?.scan?.checkin?.id ?? 0;
  const explain = async (text: string, by = "Ann") =>
    checkin.doubles.explainDouble({ ...place, id: await idOf(), text, by });
  const notes = () => db.many(sql`select scan, explanation, explained_by as by from double_note`);

  beforeEach(() => send(offline(0, 1), offline(5, 2)));

  it("[F3.10] is shown with who gave it and when, is replaced by another one, and taken back by an empty text", async () => {
    const { double } = await explain("A copy.");
    expect(double?.note).toMatchObject({ text: "A copy.", by: "Ann" });
    expect(Math.abs((double?.note?.at ?? 0) - now())).toBeLessThan(10 * minute);
    expect(await read({ explained: true })).toEqual([double]);
    expect(await read({ explained: false })).toEqual([]);
    await explain("Twins.", "Bob");
    expect((await read())[0]?.note).toMatchObject({ text: "Twins.", by: "Bob" });
    expect((await explain("")).double?.note).toBeUndefined();
    expect(await notes()).toEqual([]);
    await explain("");
  });

  it("[F3.10] is kept while its double is none, and cannot be given then", async () => {
    const id = await idOf();
    await explain("A copy.");
    await send(offline(2, 1, { ...exit, nonce: "out" }));
    await expect(checkin.doubles.explainDouble({ ...place, id, text: "x", by: "y" })).rejects.toMatchObject({
      code: "double_not_found",
    });
    await checkin.history.annulScan({
      ...{ organizer: place.organizer, lists: [list], nonce: "out", deviceId: 1, at: start + 3 * minute },
    });
    expect((await read())[0]?.note).toMatchObject({ text: "A copy." });
  });

  it("[F3.10] goes with its ticket, or with its list", async () => {
    await explain("A copy.");
    await checkin.deliver(topics.positionChanged, [`${place.organizer}/${place.event}/1`]);
    expect(await notes()).toEqual([]);
    await send(offline(0, 1, { lookup: "secret2" }), offline(5, 2, { lookup: "secret2" }));
    await explain("Another copy.");
    expect(await notes()).toHaveLength(1);
    await checkin.lists.deleteCheckinList({ ...place, id: list });
    expect(await notes()).toEqual([]);
    expect(await read()).toEqual([]);
  });
});

describe("a ledger of many tickets", () => {
  const tickets = 20_500;

  /** Doubles of every fiftieth ticket; the others may have been one. */
  const insert = () =>
    db.run(sql`
      insert into scan (organizer, event, id, list, position, type, successful, at, device_id, forced, force_sent,
                        auto_checked_in, overruled)
      select ${place.organizer}, ${place.event}, nextval('scan_id'), ${list}, ticket, 'entry', true,
             now() - interval '1 hour' + device * interval '1 minute', case when ticket % 50 = 0 then device else 1 end,
             false, true, false, case when device = 2 then 'already_redeemed' end
        from generate_series(1, ${tickets}) as ticket
       cross join generate_series(1, 2) as device`);

  it("[F3.9] is refused as a page where too many had to be looked at, and is whole part by part", {
    timeout: 60_000,
  }, async () => {
    await db.run(sql`
      insert into position (organizer, event, id, revision, positionid, order_code, item, secret, order_status, valid_if_pending,
                            require_approval, canceled, blocked, order_placed_at, search_text, state)
      select organizer, event, ticket, revision, positionid, order_code, item, 'many' || ticket, order_status, valid_if_pending,
             require_approval, canceled, blocked, order_placed_at, search_text, state
        from position
       cross join generate_series(50, ${tickets}, 50) as ticket
       where id = 1`);
    await insert();
    await db.run(sql`analyze scan`);
    await expect(read()).rejects.toMatchObject({ code: "too_many_doubtful" });
    const found: number[] = [];
    for (let after: { position: number; list: number } | undefined; ; ) {
      const { doubles, next } = await checkin.doubles.nextDoubles({ ...place, filter: {}, after });
      found.push(...doubles.map(({ position }) => position));
      if (next === undefined) break;
      after = next;
    }
    expect(found).toEqual(Array.from({ length: tickets / 50 }, (_, index) => 50 * (index + 1)));
    const { count } = await checkin.doubles.listDoubles({
      ...{ ...place, filter: { position: 100 }, page: 1, pageSize: 50, ordering: [] },
    });
    expect(count).toBe(1);
  });
});
