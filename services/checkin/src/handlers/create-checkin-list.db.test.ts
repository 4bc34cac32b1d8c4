import { describe, expect, it } from "vitest";
import { noon, place } from "../testing/facts.ts";
import { everything, listsOfSeries } from "../testing/lists-of-series.ts";
import { listFields } from "../testing/start-checkin.ts";

const series = listsOfSeries();
const { names } = series;

describe("creating", () => {
  it("[C1.15] gives back what was sent, with an id of its own", async () => {
    const fields = listFields({
      name: "VIP ★",
      allProducts: false,
      limitProducts: [11, 10],
      subevent: 2,
      includePending: true,
      allowMultipleEntries: true,
      allowEntryAfterExit: false,
      rules: " { }\n",
      exitAllAt: noon + 123_456,
      addonMatch: true,
      ignoreInStatistics: true,
      considerTicketsUsed: false,
    });
    const created = await series.checkin.createList(fields);
    expect(created).toEqual({ id: created.id, fields, positionCount: 0, checkinCount: 0 });
    expect(await series.checkin.lists.getCheckinList({ ...place, id: created.id })).toEqual({ list: created });
  });

  it.each([
    ["an unknown item", { limitProducts: [10, 12] }, { limit_products: [expect.stringContaining("12")] }],
    [
      "an unknown item, even for all products",
      { allProducts: true, limitProducts: [12] },
      { limit_products: [expect.anything()] },
    ],
    ["a date of another event", { subevent: 9 }, { subevent: [expect.anything()] }],
    [
      "rules that cannot be judged",
      { rules: '{"and": [{"!": 1}]}' },
      { non_field_errors: ['At rules.and[0]: there is no operator "!".'] },
    ],
    [
      "rules that cannot be judged only after what is wrong with fields",
      { rules: '{"and": [{"!": 1}]}', limitProducts: [12] },
      { limit_products: [expect.anything()] },
    ],
    ["rules of null", { rules: "null" }, { rules: [expect.anything()] }],
    [
      "no name and an unknown date",
      { name: " ", subevent: 5 },
      { name: [expect.anything()], subevent: [expect.anything()] },
    ],
  ])("[C1.12, C1.13, C1.16] refuses %s", async (_name, fields, expected) => {
    await expect(series.checkin.createList(fields)).rejects.toMatchObject({ kind: "invalid", fields: expected });
    expect(await names()).toEqual([]);
  });

  it("[C4.16] gives back rules to the letter", async () => {
    const rules = '{ "inList": [{"var":"product"}, {"objectList": [{"lookup": ["product", "10", "Day"]}]}] }';
    const { id } = await series.checkin.createList({ rules });
    expect((await series.checkin.lists.getCheckinList({ ...place, id })).list?.fields?.rules).toBe(rules);
  });

  it("[C1.12] keeps products as they were sent, each once, also where the list covers all", async () => {
    const { fields } = await series.checkin.createList({ allProducts: true, limitProducts: [11, 10, 11] });
    expect(fields).toMatchObject({ allProducts: true, limitProducts: [11, 10] });
  });

  it("[A8.3, C1.13] refuses a date in an event that is no series", async () => {
    const sent = { ...place, event: "single", fields: listFields({ subevent: 9 }) };
    await expect(series.checkin.lists.createCheckinList(sent)).rejects.toMatchObject({
      kind: "invalid",
      fields: { non_field_errors: [expect.anything()] },
    });
  });

  it("[A8.8] reports contradictions only when each field is right by itself", async () => {
    const sent = {
      ...place,
      event: "single",
      fields: listFields({ subevent: 9, allProducts: false, limitProducts: [77] }),
    };
    const refusal = await series.checkin.lists.createCheckinList(sent).catch((error: unknown) => error);
    expect(refusal).toMatchObject({ fields: { limit_products: [expect.anything()] } });
    expect(refusal).not.toHaveProperty("fields.non_field_errors");
  });

  it("finds no list of an unknown event", async () => {
    const nowhere = { organizer: "bigevents", event: "nowhere" };
    const unknown = { kind: "not_found", code: "event_not_found" };
    await expect(series.checkin.lists.createCheckinList({ ...nowhere, fields: listFields() })).rejects.toMatchObject(
      unknown,
    );
    await expect(series.checkin.lists.listCheckinLists({ ...everything, ...nowhere })).rejects.toMatchObject(unknown);
    await expect(series.checkin.lists.getCheckinList({ ...nowhere, id: 1 })).rejects.toMatchObject(unknown);
  });
});
