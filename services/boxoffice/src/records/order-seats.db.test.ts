import { sql } from "@tessera/kit/pg/sql";
import { beforeEach, expect, it } from "vitest";
import { emptyOffice } from "../testing/empty-office.ts";
import { festival, position, sample } from "../testing/records.ts";

const office = emptyOffice();

beforeEach(async () => {
  await office.apply(...festival);
});

/** One position on each of these seats. */
const onSeats = (firstId: number, ...seats: readonly unknown[]) =>
  seats.map((seat, index) => position({ id: firstId + index, positionid: index + 1, seat }));

const sold = (code: string, firstId: number, ...seats: readonly unknown[]) =>
  sample.order({ code, positions: onSeats(firstId, ...seats) });

const seatIds = () => office.db.many(sql`select id, guid from seat order by id`);

it("a new seat takes an id that stood beside a guid which is known, in the same batch", async () => {
  await office.apply(sample.seat({ id: 1, seat_guid: "a" }));
  const rejected = await office.apply(
    sold("A", 1, { id: 60, seat_guid: "a" }),
    sold("B", 2, { id: 60, seat_guid: "new" }),
  );
  expect(rejected).toEqual({});
  expect(await seatIds()).toEqual([
    { id: 1, guid: "a" },
    { id: 60, guid: "new" },
  ]);
});

it("a new seat takes an id that stood beside a guid which was described before, in the same order", async () => {
  const seats = [
    { id: 60, seat_guid: "x" },
    { id: 61, seat_guid: "x" },
    { id: 61, seat_guid: "w" },
  ];
  // Canceled, because otherwise two positions could not share a seat.
  const positions = onSeats(1, ...seats, { id: 62, seat_guid: "y" });
  expect(await office.apply(sample.order({ status: "c", positions }))).toEqual({});
  expect(await seatIds()).toEqual([
    { id: 60, guid: "x" },
    { id: 61, guid: "w" },
    { id: 62, guid: "y" },
  ]);
});

it("a new seat does not take an id that a seat of the batch has", async () => {
  const rejected = await office.apply(
    sold("A", 1, { id: 60, seat_guid: "x" }),
    sold("B", 2, { id: 60, seat_guid: "y" }),
    sold("C", 3, { id: 61, seat_guid: "v" }, { id: 61, seat_guid: "w" }),
  );
  expect(rejected).toEqual({
    2: { "positions.0.seat": ["Seat 60 is another seat."] },
    3: { "positions.1.seat": ["Seat 61 is another seat."] },
  });
  expect(await seatIds()).toEqual([
    { id: 60, guid: "x" },
    { id: 61, guid: "v" },
  ]);
});
