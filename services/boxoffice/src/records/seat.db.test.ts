import { sql } from "@tessera/kit/pg/sql";
import { toSentence } from "@tessera/records/validate";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { emptyOffice } from "../testing/empty-office.ts";
import { takeFacts } from "../testing/facts.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";

const office = emptyOffice();

beforeEach(async () => {
  const series = [
    sample.event({ slug: "series", has_subevents: true }),
    sample.item(),
    sample.subevent(),
    sample.subevent({ id: 2 }),
  ];
  await office.apply(...festival, ...series.map(inSeries));
  await takeFacts(office.db);
});

const inSeries = (sent: TestRecord) => ({ ...sent, event: "series" });
const fieldsOf = (errors: Record<string, unknown> | undefined) => Object.keys(errors ?? {}).sort();
const removed = (kind: string, key: object) => record(kind, key, { deleted: true });
const a = sample.seat({ id: 1, seat_guid: "a" });
const b = sample.seat({ id: 2, seat_guid: "b" });

/** An order of one position on a seat. */
const sold = (code: string, id: number, seat: unknown, order: object = {}, of: object = {}) =>
  sample.order({ code, positions: [position({ id, seat, ...of })], ...order });

/** The published seats, by position. */
async function toldSeats(): Promise<Record<string, unknown>> {
  const facts = await takeFacts(office.db);
  return Object.fromEntries(
    facts.map(({ key, value }) => [key, (value as { position?: { seat?: unknown } })?.position?.seat]),
  );
}

const seatIds = () => office.db.many(sql`select id, guid, data ->> 'product' as product from seat order by id`);

describe("a seat", () => {
  it("is kept whole, and is told to no service yet", async () => {
    const sent = { id: 700, zone_name: "Stalls", row_name: 4, row_label: "Row D", seat_number: "17", product: 1 };
    const taken = { orderposition: { id: 4 }, cartposition: null, voucher: 5 };
    expect(await office.apply(sample.seat({ ...sent, ...taken, blocked: true }))).toEqual({});
    expect(await office.db.many(sql`select data from seat`)).toEqual([
      {
        data: {
          id: 700,
          name: null,
          seat_guid: "stalls-1-1",
          zone_name: "Stalls",
          row_name: "4",
          row_label: "Row D",
          seat_number: "17",
          seat_label: null,
          subevent: null,
          product: 1,
          blocked: true,
        },
      },
    ]);
    expect(await takeFacts(office.db)).toEqual([]);
  });

  it.each([
    ["without a guid", sample.seat({ seat_guid: "" }), ["seat_guid"]],
    ["of an unknown product and date", sample.seat({ product: 9, subevent: 1 }), ["product", "subevent"]],
    ["of a series without a date", inSeries(sample.seat()), ["subevent"]],
    ["with the guid of another", sample.seat({ id: 9, seat_guid: "a" }), ["seat_guid"]],
  ])("[R3.31] %s is refused by the names of its fields", async (_name, sent, fields) => {
    await office.apply(a);
    expect(fieldsOf((await office.apply(sent))[1])).toEqual(fields);
  });

  it("[R3.31] is another one on every date", async () => {
    const dates = [1, 2].map((id) => inSeries(sample.seat({ id, subevent: id })));
    expect(await office.apply(...dates, inSeries(sample.seat({ id: 3, subevent: 2 })))).toEqual({
      3: { seat_guid: ["Seat 2 has this guid."] },
    });
    const onDate = (code: string, id: number, subevent: number) =>
      inSeries(sold(code, id, "stalls-1-1", {}, { subevent }));
    expect(await office.apply(onDate("A", 1, 1), onDate("B", 2, 2), onDate("C", 3, 2))).toEqual({
      3: { "positions.0.seat": ["Another position has this seat."] },
    });
  });

  it("may swap its guid with another of the batch, but not while positions know it by that", async () => {
    await office.apply(a, b);
    const swapped = [sample.seat({ id: 1, seat_guid: "b" }), sample.seat({ id: 2, seat_guid: "a" })];
    expect(await office.apply(...swapped)).toEqual({});
    await office.apply(sold("A", 1, "b", { status: "c" }));
    expect(await office.apply(a, b)).toEqual({
      1: { seat_guid: ["Positions refer to the seat by its former guid."] },
      2: { seat_guid: ["Seat 1 has this guid."] },
    });
  });

  it("stays while a position has it, and keeps its product and date", async () => {
    await office.apply(sample.seat({ product: 1 }), inSeries(sample.seat({ subevent: 2 })), sold("A", 1, "stalls-1-1"));
    const refused = (by: string) => ({
      1: { non_field_errors: [toSentence(`${by} refer to it; remove or change those first`)] },
    });
    expect(await office.apply(removed("seat", { id: 1 }))).toEqual(refused("positions"));
    expect(await office.apply(removed("item", { id: 1 }))).toEqual(refused("positions and seats"));
    expect(await office.apply(inSeries(removed("subevent", { id: 2 })))).toEqual(refused("seats"));
    await office.apply(removed("order", { code: "A" }));
    expect(await office.apply(removed("seat", { id: 1 }))).toEqual({});
    await office.apply({ ...removed("event", { slug: "series" }), event: "series" });
    expect(await seatIds()).toEqual([]);
  });

  it("[R3.35] that changes changes in the facts of its positions, canceled ones too", async () => {
    await office.apply(a, b, sold("A", 1, "a"), sold("B", 2, "b"), sold("C", 3, "a", { status: "c" }));
    await takeFacts(office.db);
    await office.apply(sample.seat({ id: 1, seat_guid: "a", zone_name: "Balcony", seat_number: "9" }));
    const seat = { id: 1, name: "Balcony, Seat 9", seatGuid: "a", zoneName: "Balcony", rowName: "", seatNumber: "9" };
    expect(await toldSeats()).toEqual({ "org/fest/1": seat, "org/fest/3": seat });
    await office.apply(sold("A", 1, { seat_guid: "a", zone_name: "Somewhere else" }));
    expect(await takeFacts(office.db)).toEqual([]);
  });
});

describe("a position", () => {
  it("[R3.43] sits on the seat of a guid, which must be known", async () => {
    expect(await office.apply(a, sold("A", 1, "a"), sold("B", 2, "b"))).toEqual({
      3: { "positions.0.seat": ["A seat with this guid is not known; its record must come first."] },
    });
    expect(await toldSeats()).toEqual({
      "org/fest/1": { id: 1, name: "a", seatGuid: "a", zoneName: "", rowName: "", seatNumber: "" },
    });
  });

  it("[R3.43, R4.3] brings its seat along, with its id or one of ours, for those behind it too", async () => {
    await office.apply(sample.seat({ id: 40 }));
    await office.db.one(sql`select setval('seat_id_seq', 45)`);
    const positions = [
      position({ id: 1, seat: { id: 60, name: "Throne", seat_guid: "a" } }),
      position({ id: 2, positionid: 2, seat: { seat_guid: "b", row_name: "2" } }),
      position({ id: 3, positionid: 3, seat: { seat_guid: "c" } }),
    ];
    expect(await office.apply(sample.order({ positions }), sold("B", 4, "c", { status: "e" }))).toEqual({});
    expect(await seatIds()).toEqual([
      { id: 40, guid: "stalls-1-1", product: null },
      { id: 60, guid: "a", product: "1" },
      { id: 61, guid: "b", product: "1" },
      { id: 62, guid: "c", product: "1" },
    ]);
    expect(await toldSeats()).toMatchObject({
      "org/fest/1": { id: 60, name: "Throne" },
      "org/fest/2": { id: 61, name: "Row 2" },
      "org/fest/3": { id: 62, name: "c" },
      "org/fest/4": { id: 62, name: "c" },
    });
    await office.apply(sample.order({ positions }));
    expect(await takeFacts(office.db)).toEqual([]);
  });

  it("[R4.3] brings its seat along under an id above all of the event, however many batches do so at once", async () => {
    await office.apply(sample.seat({ id: 40 }));
    const rejected = await Promise.all(
      Array.from({ length: 8 }, (_, at) => office.apply(sold(`S${at}`, at + 1, { seat_guid: `s${at}` }))),
    );
    expect(rejected).toEqual(Array(8).fill({}));
    const seats = await office.db.many<{ id: number }>(sql`select seat.id from seat order by seat.id`);
    const [imported, ...drawn] = seats.map(({ id }) => id);
    expect(imported).toBe(40);
    expect(new Set(drawn).size).toBe(8);
  });

  it("does not bring along what has the id of another seat", async () => {
    const two = [
      position({ id: 11, seat: { id: 5, seat_guid: "x" } }),
      position({ id: 12, positionid: 2, seat: { id: 5, seat_guid: "y" } }),
    ];
    const rejected = await office.apply(a, sold("A", 1, { id: 1, seat_guid: "new" }), sample.order({ positions: two }));
    expect(rejected).toEqual({
      2: { "positions.0.seat": ["Seat 1 is another seat."] },
      3: { "positions.1.seat": ["Seat 5 is another seat."] },
    });
    expect(await seatIds()).toMatchObject([{ guid: "a" }, { id: 5, guid: "x" }]);
  });

  it("[R3.32] has its seat alone, among those that are neither canceled nor expired", async () => {
    const conflict = { "positions.0.seat": ["Another position has this seat."] };
    await office.apply(a, sold("A", 1, "a"));
    expect(await office.apply(sold("B", 2, "a"))).toEqual({ 1: conflict });
    expect(await office.apply(sold("B", 2, { seat_guid: "a" }, { status: "n" }))).toEqual({ 1: conflict });
    for (const given of [
      sold("A", 1, "a", { status: "c" }),
      sold("A", 1, "a", { status: "e" }),
      sold("A", 1, "a", {}, { canceled: true }),
      sold("A", 1, null),
      removed("order", { code: "A" }),
    ]) {
      expect(await office.apply(given, sold("B", 2, "a"))).toEqual({});
      expect(await office.apply(sold("A", 1, "a"))).toEqual({ 1: conflict });
      expect(await office.apply(sold("B", 2, null), sold("A", 1, "a"))).toEqual({});
    }
  });

  it("[R3.32] has it alone within its order and its batch", async () => {
    const twice = [position({ seat: "a" }), position({ id: 2, positionid: 2, seat: "a" })];
    expect(await office.apply(a, sample.order({ positions: twice }), sold("B", 3, "a"), sold("C", 4, "a"))).toEqual({
      2: { "positions.1.seat": ["Another position has this seat."] },
      3: { "positions.0.seat": ["Another position has this seat."] },
      4: { "positions.0.seat": ["Another position has this seat."] },
    });
  });

  it("[R3.34] may swap seats with that of another order, if both come together", async () => {
    await office.apply(a, b, sold("A", 1, "a"), sold("B", 2, "b"));
    await takeFacts(office.db);
    expect(await office.apply(sold("A", 1, "b"), sold("B", 2, "a"))).toEqual({});
    expect(await toldSeats()).toMatchObject({ "org/fest/1": { id: 2 }, "org/fest/2": { id: 1 } });
    expect(fieldsOf((await office.apply(sold("A", 1, "a")))[1])).toEqual(["positions.0.seat"]);
    expect(await toldSeats()).toEqual({ "org/fest/1": undefined });
  });

  it("that moves to another order takes its seat along", async () => {
    await office.apply(a, sold("A", 1, "a"));
    const told = await office.apply(sample.order({ code: "A", positions: [] }), sold("B", 1, "a"));
    expect([Object.keys(told), fieldsOf(told[1])]).toEqual([["1"], ["positions"]]);
    expect(fieldsOf((await office.apply(sold("C", 3, "a")))[1])).toEqual(["positions.0.seat"]);
  });
});

it("[R3.33] a seat that twenty orders want at once goes to one of them", async () => {
  await office.apply(a);
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) => boxOfficeOn(office.db).apply(sold(`O${index}`, index + 1, "a"))),
  );
  expect(answers.filter((rejected) => rejected[1] === undefined)).toHaveLength(1);
  const holders = await office.db.many(sql`select id from position where seat = 1`);
  expect(holders).toHaveLength(1);
});
