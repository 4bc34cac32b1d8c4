import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { describe, expect, it } from "vitest";
import { place, positionFact } from "../testing/facts.ts";
import { listsOfSeries } from "../testing/lists-of-series.ts";
import { listFields, scan } from "../testing/start-checkin.ts";

const series = listsOfSeries();

describe("updating", () => {
  it("[C1.17] changes the named fields and no others", async () => {
    const before = await series.checkin.createList({ name: "before", limitProducts: [10], subevent: 1 });
    const update = { ...place, id: before.id, fields: listFields({ name: "after", subevent: undefined }) };
    const { list } = await series.checkin.lists.updateCheckinList({ ...update, updateMask: ["name", "subevent"] });
    expect(list).toEqual({ ...before, fields: { ...before.fields, name: "after", subevent: undefined } });
    expect(await series.checkin.lists.getCheckinList({ ...place, id: before.id })).toEqual({ list });
  });

  it("[C1.17] checks the named fields, not the others", async () => {
    const list = await series.checkin.createList({ limitProducts: [10], subevent: 1 });
    await series.checkin.deliver(topics.itemChanged, ["bigevents/sampleconf/10"]);
    await series.checkin.deliver(topics.subeventChanged, ["bigevents/sampleconf/1"]);
    const update = { ...place, id: list.id, fields: listFields({ name: "renamed", limitProducts: [10], subevent: 1 }) };
    await series.checkin.lists.updateCheckinList({ ...update, updateMask: ["name"] });
    await expect(
      series.checkin.lists.updateCheckinList({ ...update, updateMask: ["limit_products", "subevent"] }),
    ).rejects.toMatchObject({ fields: { limit_products: [expect.anything()], subevent: [expect.anything()] } });
  });

  it("[C4.8, C4.9] checks rules only when they are sent", async () => {
    const { id } = await series.checkin.createList();
    await series.checkin.db.run(sql`update list set rules = '{"!": 1}' where list.id = ${id}`);
    const update = { ...place, id, fields: listFields({ name: "renamed", rules: '{"!": 1}' }) };
    await series.checkin.lists.updateCheckinList({ ...update, updateMask: ["name"] });
    await expect(series.checkin.lists.updateCheckinList({ ...update, updateMask: ["rules"] })).rejects.toMatchObject({
      fields: { non_field_errors: ['At rules: there is no operator "!".'] },
    });
  });

  it("refuses fields and lists that it does not know", async () => {
    const { id } = await series.checkin.createList();
    const update = { ...place, id, fields: listFields(), updateMask: ["id"] };
    await expect(series.checkin.lists.updateCheckinList(update)).rejects.toMatchObject({ kind: "invalid" });
    await expect(
      series.checkin.lists.updateCheckinList({ ...update, id: id + 1, updateMask: [] }),
    ).rejects.toMatchObject({
      kind: "not_found",
      code: "checkin_list_not_found",
    });
    await expect(
      series.checkin.lists.updateCheckinList({ ...update, event: "single", updateMask: [] }),
    ).rejects.toMatchObject({ code: "checkin_list_not_found" });
  });
});

describe("deleting", () => {
  it("[C1.18] deletes the list and all its scans", async () => {
    await series.checkin.deliver(topics.positionChanged, [positionFact(1)]);
    const { id } = await series.checkin.createList();
    const other = await series.checkin.createList();
    await series.checkin.redeemAll([
      scan(id, "secret1"),
      scan(id, "secret1"),
      scan(id, "unknown"),
      scan(other.id, "secret1"),
    ]);
    await series.checkin.lists.deleteCheckinList({ ...place, id });
    const { left } = await series.checkin.db.one<{ left: number[] }>(sql`
      select array(select scan.list from scan union all select presence.list from presence
                   union all select count_delta.list from count_delta where count_delta.list <> 0) as left`);
    expect(left).toEqual([other.id, other.id, other.id]);
    await expect(series.checkin.lists.deleteCheckinList({ ...place, id })).rejects.toMatchObject({
      code: "checkin_list_not_found",
    });
  });
});
