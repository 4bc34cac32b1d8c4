import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { type Arbitrary, array, assert, asyncProperty, constantFrom, integer, option, record, tuple } from "fast-check";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type BoxOffice, boxOfficeOn } from "../testing/box-office.ts";
import { position, record as recordOf, sample, type TestRecord } from "../testing/records.ts";
import { recount } from "../testing/recount.ts";

const migrations = new URL("../../migrations/", import.meta.url);

let database: TestDatabase;
let db: Db;
let office: BoxOffice;

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "boxoffice", migrations }]);
  db = database.open("boxoffice");
  office = boxOfficeOn(db);
});

beforeEach(() => emptyTables(db));

// Failed statements show only here: their records are then stored one by one, and no caller notices.
afterEach(() => expect(office.logged).toEqual([]));

afterAll(() => database.drop());

const variations = [
  { id: 21, value: {} },
  { id: 22, value: {} },
];

/** An event with its products; a series has two dates. */
function surroundings(event: string): TestRecord[] {
  const isSeries = event === "series";
  const dates = isSeries ? [sample.subevent(), sample.subevent({ id: 2 })] : [];
  const products = [sample.item(), sample.item({ id: 2, variations })];
  return [
    sample.organizer(),
    { ...sample.event({ slug: event, has_subevents: isSeries }), event },
    ...[...dates, ...products].map((each) => ({ ...each, event })),
  ];
}

/** What is taken of an event: `item`, or `item/variation`, of a date, as paid or pending. */
async function takenOf(event: string): Promise<Record<string, number>> {
  const { counted, recounted } = await recount(db);
  expect(counted).toEqual(recounted);
  const rows = counted as {
    event: string;
    subevent: number | null;
    item: number;
    variation: number | null;
    taken_as: string;
    positions: number;
  }[];
  return Object.fromEntries(
    rows
      .filter((row) => row.event === event)
      .map(({ subevent, item, variation, taken_as, positions }) => [
        `${taken_as} ${item}${variation === null ? "" : `/${variation}`}${subevent === null ? "" : ` on ${subevent}`}`,
        positions,
      ]),
  );
}

const paid = (id: number, rest: object = {}) => position({ id, positionid: id, ...rest });

describe("what is taken", () => {
  beforeEach(async () => {
    expect(await office.apply(...surroundings("fest"))).toEqual({});
  });

  it("is what positions of paid and pending orders take, and nothing twice", async () => {
    const orders = [
      sample.order({ positions: [paid(1), paid(2, { item: 2, variation: 21 }), paid(3, { canceled: true })] }),
      sample.order({ code: "B", status: "n", positions: [paid(4), paid(5)] }),
      sample.order({ code: "C", status: "e", positions: [paid(6)] }),
      sample.order({ code: "D", status: "c", positions: [paid(7)] }),
    ];
    expect(await office.apply(...orders, ...orders)).toEqual({});
    const taken = { "paid 1": 1, "paid 2/21": 1, "pending 1": 2 };
    expect(await takenOf("fest")).toEqual(taken);
    expect(await office.apply(...orders)).toEqual({});
    expect(await takenOf("fest")).toEqual(taken);
  });

  it.each([
    ["is paid", sample.order({ status: "p", positions: [paid(1), paid(2)] }), { "paid 1": 2 }],
    ["expires", sample.order({ status: "e", positions: [paid(1), paid(2)] }), {}],
    [
      "has a position canceled",
      sample.order({ status: "n", positions: [paid(1, { canceled: true }), paid(2)] }),
      { "pending 1": 1 },
    ],
    ["loses a position", sample.order({ status: "n", positions: [paid(1)] }), { "pending 1": 1 }],
    [
      "has another product",
      sample.order({ status: "n", positions: [paid(1), paid(2, { item: 2, variation: 22 })] }),
      { "pending 1": 1, "pending 2/22": 1 },
    ],
    ["is removed", recordOf("order", { code: "ABCDE" }, { deleted: true }), {}],
  ] as const)("follows an order that %s", async (_name, change, expected) => {
    await office.apply(sample.order({ status: "n", positions: [paid(1), paid(2)] }));
    expect(await takenOf("fest")).toEqual({ "pending 1": 2 });
    expect(await office.apply(change)).toEqual({});
    expect(await takenOf("fest")).toEqual(expected);
  });

  it("follows a position from one order to another", async () => {
    await office.apply(sample.order({ positions: [paid(1), paid(2)] }));
    await office.apply(
      sample.order({ positions: [paid(1)] }),
      sample.order({ code: "B", status: "n", positions: [paid(2)] }),
    );
    expect(await takenOf("fest")).toEqual({ "paid 1": 1, "pending 1": 1 });
  });

  it("goes with its event", async () => {
    await office.apply(sample.order());
    await office.apply(recordOf("event", { slug: "fest" }, { deleted: true }));
    expect(await db.many(sql`select item from taken_capacity`)).toEqual([]);
  });

  it("is counted when an order is sent again that a program stored which did not count", async () => {
    await office.apply(sample.order());
    await db.run(sql`update position set taken_as = null`);
    await db.run(sql`delete from taken_capacity`);
    await office.apply(sample.order());
    expect(await takenOf("fest")).toEqual({ "paid 1": 1 });
  });
});

interface Step {
  readonly kind: "order" | "remove";
  readonly code: string;
  readonly status: string;
  readonly positions: readonly {
    id: number;
    product: readonly [number, number | null];
    date: number;
    canceled: boolean;
  }[];
}

const step: Arbitrary<Step> = record({
  kind: constantFrom("order", "order", "order", "order", "order", "order", "remove"),
  code: constantFrom("A", "B", "C", "D"),
  status: constantFrom("p", "p", "p", "n", "n", "n", "e", "c"),
  positions: array(
    record({
      id: integer({ min: 1, max: 12 }),
      product: constantFrom([1, null], [2, 21], [2, 22], [2, null]),
      date: integer({ min: 1, max: 2 }),
      canceled: constantFrom(false, false, false, true),
    }),
    { maxLength: 3, size: "max" },
  ),
});

/** Batches of one writer; null removes the event, and creates it again. */
const batches = array(option(array(step, { minLength: 2, maxLength: 8, size: "max" }), { freq: 12 }), {
  minLength: 2,
  maxLength: 5,
  size: "max",
});

function toRecord(event: string, { kind, code, status, positions }: Step): TestRecord {
  if (kind === "remove") return recordOf("order", { code }, { deleted: true, event });
  const byId = new Map(positions.map((each) => [each.id, each]));
  return {
    ...sample.order({
      code,
      status,
      positions: [...byId.values()].map(({ id, product: [item, variation], date, canceled }) =>
        paid(id, { item, variation, canceled, subevent: event === "series" ? date : null }),
      ),
    }),
    event,
  };
}

it("what is taken is what a recount finds, whatever changes at the same time", async () => {
  let accepted = 0;
  let seen = 0;
  const write = async (event: string, all: readonly (readonly Step[] | null)[]) => {
    for (const steps of all) {
      const records =
        steps === null
          ? [recordOf("event", { slug: event }, { deleted: true, event }), ...surroundings(event)]
          : steps.map((each) => toRecord(event, each));
      const rejected = await office.apply(...records);
      accepted += records.length - Object.keys(rejected).length;
    }
  };
  await assert(
    asyncProperty(tuple(batches, batches, batches), async ([first, second, third]) => {
      await emptyTables(db);
      expect(await office.apply(...surroundings("fest"), ...surroundings("series"))).toEqual({});
      await Promise.all([write("fest", first), write("series", second), write("fest", third)]);
      const { counted, recounted } = await recount(db);
      expect(counted).toEqual(recounted);
      seen += counted.length;
    }),
    { numRuns: 20 },
  );
  // If all batches were refused, the test would prove nothing.
  expect(accepted).toBeGreaterThan(500);
  expect(seen).toBeGreaterThan(30);
});
