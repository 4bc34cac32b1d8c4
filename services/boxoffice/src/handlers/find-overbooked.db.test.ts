import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { festival, position, record, sample, type TestRecord } from "../testing/records.ts";
import { findOverbooked } from "./find-overbooked.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);

beforeEach(async () => {
  await emptyTables(db);
  await take(...festival, sample.item({ id: 2, variations: [{ id: 21, value: {} }] }));
});

/** Applies valid records. */
async function take(...records: TestRecord[]): Promise<void> {
  expect(await office.apply(...records)).toEqual({});
}

const ask = async (...places: readonly (readonly [organizer: string, event: string])[]) => {
  const events = places.map(([organizer, event]) => ({ organizer, event }));
  return (await findOverbooked({ events }, { db })).quotas;
};

/** The overbooked quotas of the event: `taken of size`, by quota. */
const overbooked = async () =>
  Object.fromEntries((await ask(["org", "fest"])).map(({ id, size, taken }) => [id, `${taken} of ${size}`]));

/** One paid order with this many positions. */
const sold = (count: number, rest: object = {}, code = "ABCDE") =>
  sample.order({
    code,
    positions: Array.from({ length: count }, (_, index) => position({ id: index + 1, positionid: index + 1, ...rest })),
  });

describe("overbooked quotas", () => {
  it("[R8.1, R8.2] are kept and found: an import is no sale that could be refused", async () => {
    await take(sample.quota({ size: 2 }), sold(2));
    expect(await overbooked()).toEqual({});
    await take(sold(3));
    expect(await overbooked()).toEqual({ 1: "3 of 2" });
  });

  it.each([
    ["a smaller size", sample.quota({ size: 2 }), { 1: "3 of 2" }],
    ["more items", sample.quota({ size: 1, items: [1, 2], variations: [21] }), { 1: "3 of 1" }],
    ["other items", sample.quota({ size: 1, items: [2], variations: [21] }), {}],
    ["no size", sample.quota({ size: null }), {}],
    ["the end of sales", sample.quota({ size: 2, closed: true }), { 1: "3 of 2" }],
    ["the order's end", sample.order({ status: "c", positions: [] }), {}],
    ["its removal", record("quota", { id: 1 }, { deleted: true }), {}],
  ] as const)("[R8.9, R8.10] follow %s at once", async (_name, change, expected) => {
    await take(sample.quota({ size: 3 }), sold(3));
    expect(await overbooked()).toEqual({});
    await take(change);
    expect(await overbooked()).toEqual(expected);
  });

  it("[R8.5, R8.6] count pending orders as paid ones, and each quota by itself", async () => {
    const quotas = [
      sample.quota({ size: 1 }),
      sample.quota({ id: 2, size: 1, items: [2], variations: [21] }),
      sample.quota({ id: 3, size: 2, items: [1, 2], variations: [21] }),
    ];
    await take(
      ...quotas,
      sample.order({ status: "n", positions: [1, 2].map((id) => position({ id, positionid: id })) }),
    );
    expect(await overbooked()).toEqual({ 1: "2 of 1" });
    await take(sample.order({ code: "B", positions: [position({ id: 3, item: 2, variation: 21 })] }));
    expect(await overbooked()).toEqual({ 1: "2 of 1", 3: "3 of 2" });
  });

  it("[R8.8] are those of their date", async () => {
    const inSeries = (each: TestRecord) => ({ ...each, event: "series" });
    const onDate = (id: number, subevent: number) =>
      sample.order({ code: `D${id}`, positions: [position({ id, subevent })] });
    await take(
      ...[
        sample.event({ slug: "series", has_subevents: true }),
        sample.item(),
        sample.subevent(),
        sample.subevent({ id: 2 }),
        sample.quota({ size: 1, subevent: 1 }),
        sample.quota({ id: 2, size: 1, subevent: 2 }),
        onDate(1, 1),
        onDate(2, 2),
        onDate(3, 2),
      ].map(inSeries),
    );
    expect(await ask(["org", "series"])).toEqual([{ organizer: "org", event: "series", id: 2, size: 1, taken: 2 }]);
  });

  it("[R8.2] are those of the events that are asked about, once each, in order", async () => {
    const places = [
      ["org", "fest"],
      ["org", "Fest"],
      ["other", "fest"],
    ] as const;
    for (const [organizer, event] of places) {
      const records = [
        sample.organizer({ slug: organizer }),
        sample.event({ slug: event }),
        sample.item(),
        sample.quota({ id: 10, size: 0 }),
        sample.quota({ id: 9, size: 0 }),
        sold(1),
      ];
      await take(...records.map((each) => ({ ...each, organizer, ...(each.kind === "organizer" ? {} : { event }) })));
    }
    const found = (organizer: string, event: string) =>
      [9, 10].map((id) => ({ organizer, event, id, size: 0, taken: 1 }));
    expect(await ask(["other", "fest"], ["org", "fest"], ["org", "Fest"], ["org", "fest"])).toEqual([
      ...found("org", "Fest"),
      ...found("org", "fest"),
      ...found("other", "fest"),
    ]);
    expect(await ask(["other", "fest"], ["other", "Fest"], ["nobody", "fest"])).toEqual(found("other", "fest"));
    expect(await ask()).toEqual([]);
  });

  it("[R8.3] are a hundred at most, of a thousand events at most", async () => {
    await take(sold(1), ...Array.from({ length: 150 }, (_, index) => sample.quota({ id: 150 - index, size: 0 })));
    expect((await ask(["org", "fest"])).map(({ id }) => id)).toEqual(
      Array.from({ length: 100 }, (_, index) => index + 1),
    );
    await expect(ask(...Array.from({ length: 1001 }, () => ["org", "fest"] as const))).rejects.toMatchObject({
      kind: "invalid",
      code: "too_many_events",
    });
  });
});
