import { emptyTables } from "@tessera/testkit/empty-tables";
import { beforeEach, describe, expect, it } from "vitest";
import { boxOfficeOn } from "../testing/box-office.ts";
import { boxofficeDatabase } from "../testing/database.ts";
import { festival, sample } from "../testing/records.ts";

const { db } = await boxofficeDatabase();
const office = boxOfficeOn(db);

const variationsOf = (item: number) => [1, 2].map((number) => ({ id: item * 10 + number, value: {} }));

beforeEach(async () => {
  await emptyTables(db);
  await office.apply(
    ...festival,
    sample.item({ id: 2, variations: variationsOf(2) }),
    sample.item({ id: 3, variations: variationsOf(3) }),
  );
});

describe("a quota", () => {
  it.each([
    ["an item without variations", { items: [1] }],
    ["some variations of an item", { items: [1, 2], variations: [22] }],
    ["all of them", { items: [3, 2], variations: [31, 21, 22, 32] }],
    ["nothing", { items: [], variations: [] }],
  ])("[R8.7] may list %s", async (_name, lists) => {
    expect(await office.apply(sample.quota(lists))).toEqual({});
  });

  it.each([
    [
      "an item with variations, and none of them",
      { items: [1, 2, 3], variations: [31] },
      { items: ["Element 2: Item 2"] },
    ],
    ["a variation without its item", { items: [2], variations: [21, 31] }, { variations: ["Element 2: Variation 31"] }],
    [
      "both, and what is not there",
      { items: [9, 3], variations: [21, 99], subevent: 7 },
      {
        items: ["Element 1: Item 9", "Element 2: Item 3"],
        variations: ["Element 1: Variation 21", "Element 2: Variation 99"],
        subevent: ["Subevent 7"],
      },
    ],
  ])("[R8.7] does not list %s", async (_name, lists, expected) => {
    const { 1: errors = {} } = await office.apply(sample.quota(lists));
    expect(Object.keys(errors).sort()).toEqual(Object.keys(expected).sort());
    for (const [field, messages] of Object.entries(expected))
      expect(errors[field]).toEqual(messages.map((message) => expect.stringContaining(message)));
  });
});
