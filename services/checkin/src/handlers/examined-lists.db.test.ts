import { describe, expect, it } from "vitest";
import { place } from "../testing/facts.ts";
import { everything, listsOfSeries } from "../testing/lists-of-series.ts";
import { listFields } from "../testing/start-checkin.ts";

const series = listsOfSeries();

const found = [expect.any(String)];

describe("an examination", () => {
  it("[C1.16] of a new list finds the fields that are wrong by themselves, and stores nothing", async () => {
    const examine = (fields: object) =>
      series.checkin.lists.createCheckinList({ ...place, fields: listFields(fields), onlyCheck: true });
    await expect(examine({ name: " ", limitProducts: [10, 77], subevent: 5 })).rejects.toMatchObject({
      kind: "invalid",
      fields: { name: found, limit_products: found, subevent: found },
    });
    // This contradicts itself, which is told when each field can be read.
    expect(await examine({ rules: '{"nonsense": []}' })).toEqual({ list: undefined });
    expect(await series.checkin.lists.listCheckinLists(everything)).toMatchObject({ count: 0 });
  });

  it("[C1.16, C1.17] of a change looks at the fields that were sent, and stores nothing", async () => {
    const list = await series.checkin.createList({ name: "Gate" });
    const examine = (fields: object, updateMask: string[], id = list.id) =>
      series.checkin.lists.updateCheckinList({ ...place, id, fields: listFields(fields), updateMask, onlyCheck: true });
    await expect(examine({ limitProducts: [77], subevent: 5 }, ["limit_products"])).rejects.toMatchObject({
      fields: { limit_products: found },
    });
    expect(await examine({ name: "Other", subevent: 5 }, ["name"])).toEqual({ list: undefined });
    expect(await series.checkin.lists.getCheckinList({ ...place, id: list.id })).toEqual({ list });
    await expect(examine({ name: "Other" }, ["name"], 4711)).rejects.toMatchObject({ kind: "not_found" });
  });
});
