import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { eventFact, itemFact, place } from "../testing/facts.ts";
import { listFields, type RunningCheckin, startCheckin } from "../testing/start-checkin.ts";

let database: TestDatabase;
let checkin: RunningCheckin;

beforeAll(async () => {
  database = await createTestDatabase([
    { schema: "checkin", migrations: new URL("../../migrations/", import.meta.url) },
  ]);
  checkin = await startCheckin(database.open("checkin"));
});
afterAll(() => database.drop());
beforeEach(async () => {
  await checkin.reset();
  await checkin.deliver(topics.eventChanged, [eventFact({ hasSubevents: false })]);
  await checkin.deliver(topics.itemChanged, [itemFact(10)]);
});

const found = [expect.any(String)];

describe("an examination", () => {
  it("[C1.16] of a new list finds the fields that are wrong by themselves, and stores nothing", async () => {
    const examine = (fields: object) =>
      checkin.lists.createCheckinList({ ...place, fields: listFields(fields), onlyCheck: true });
    await expect(examine({ name: " ", limitProducts: [10, 77], subevent: 5 })).rejects.toMatchObject({
      kind: "invalid",
      fields: { name: found, limit_products: found, subevent: found },
    });
    // This contradicts itself, which is told when each field can be read.
    expect(await examine({ rules: '{"nonsense": []}' })).toEqual({ list: undefined });
    const page = { page: 1, pageSize: 50, ordering: [], withCounts: false };
    expect(await checkin.lists.listCheckinLists({ ...place, ...page })).toMatchObject({ count: 0 });
  });

  it("[C1.16, C1.17] of a change looks at the fields that were sent, and stores nothing", async () => {
    const list = await checkin.createList({ name: "Gate" });
    const examine = (fields: object, updateMask: string[], id = list.id) =>
      checkin.lists.updateCheckinList({ ...place, id, fields: listFields(fields), updateMask, onlyCheck: true });
    await expect(examine({ limitProducts: [77], subevent: 5 }, ["limit_products"])).rejects.toMatchObject({
      fields: { limit_products: found },
    });
    expect(await examine({ name: "Other", subevent: 5 }, ["name"])).toEqual({ list: undefined });
    expect(await checkin.lists.getCheckinList({ ...place, id: list.id })).toEqual({ list });
    await expect(examine({ name: "Other" }, ["name"], 4711)).rejects.toMatchObject({ kind: "not_found" });
  });
});
