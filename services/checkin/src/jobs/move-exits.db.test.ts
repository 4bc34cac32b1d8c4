import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { describe, expect, it } from "vitest";
import { automaticExits, day, due, hour, run } from "../testing/exit-lists.ts";
import { eventFact, place, positionFact } from "../testing/facts.ts";
import { listFields } from "../testing/start-checkin.ts";

const exiting = automaticExits();
const { dueList, enter, exitAllAt, exits, handle, replica, sell } = exiting;

describe("the move of an automatic exit", () => {
  const at = (text: string) => Date.parse(text) * 1000;

  it("[C7.7] goes back to the local time that clocks had skipped, also for another process", async () => {
    const id = await dueList({ exitAllAt: at("2026-03-28T01:30:00Z") });
    for (const expected of ["2026-03-29T01:30:00Z", "2026-03-30T00:30:00Z", "2026-03-31T00:30:00Z"]) {
      exiting.checkin.clock.at = (await exitAllAt(id)) ?? 0;
      await run(replica());
      expect(await exitAllAt(id)).toBe(at(expected));
    }
  });

  it("[C7.7] follows what an organizer sets on the day that clocks skip it", async () => {
    const id = await dueList({ exitAllAt: at("2026-03-28T01:30:00Z") });
    exiting.checkin.clock.at = at("2026-03-28T02:00:00Z");
    await handle();
    await exiting.db.run(sql`update list set exit_all_at = '2026-03-29T01:40:00Z'`);
    exiting.checkin.clock.at = at("2026-03-29T02:00:00Z");
    await handle();
    expect(await exitAllAt(id)).toBe(at("2026-03-30T01:40:00Z"));
  });

  it("[C7.10] is no change of the list", async () => {
    const id = await dueList({ name: "Night" });
    const changed = sql`select list_change.changed_at, list_change.changed_in::text from list_change`;
    const before = {
      list: (await exiting.checkin.lists.getCheckinList({ ...place, id })).list,
      changed: await exiting.db.many(changed),
    };
    await handle();
    const after = {
      list: (await exiting.checkin.lists.getCheckinList({ ...place, id })).list,
      changed: await exiting.db.many(changed),
    };
    expect(after.changed).toEqual(before.changed);
    expect(after.list?.fields).toEqual({ ...before.list?.fields, exitAllAt: due + day });
  });

  it.each([
    ["set to another time", sql`update list set exit_all_at = exit_all_at + interval '1 hour 1 microsecond'`],
    ["taken back", sql`update list set exit_all_at = null`],
    ["deleted with the list", sql`delete from list`],
  ])("[C7.11] does not happen where the exit was %s meanwhile, and no exit follows", async (_name, change) => {
    const id = await dueList();
    await sell(1, 2, 3, 4, 5);
    for (const position of [1, 2, 3, 4, 5]) await enter(id, position, due - hour);
    let isChanged = false;
    const changing = replica({
      async many<Row>(statement: Parameters<Db["many"]>[0]) {
        const rows = await exiting.db.many<Row>(statement);
        if (!isChanged && (await exits()).length === 2 && !isChanged) {
          isChanged = true;
          await exiting.db.run(change);
        }
        return rows;
      },
    });
    await run(changing);
    expect(await exits()).toHaveLength(2);
    const [list] = await exiting.db.many<{ at: number | null }>(sql`select list.exit_all_at as at from list`);
    expect([undefined, null, due + hour + 1]).toContain(list === undefined ? undefined : list.at);
  });

  it("[C7.11] starts over where the list got other products meanwhile", async () => {
    const id = await dueList({ allProducts: false, limitProducts: [10] });
    await exiting.checkin.deliver(topics.positionChanged, [
      positionFact(1, { item: 11 }),
      positionFact(2),
      positionFact(3),
    ]);
    await exiting.db.run(sql`update list set all_products = true`);
    for (const position of [1, 2, 3]) await enter(id, position, due - hour);
    await exiting.db.run(sql`update list set all_products = false`);
    let isChanged = false;
    const changing = replica({
      async run(statement) {
        if (!isChanged) await exiting.db.run(sql`update list set all_products = true`);
        isChanged = true;
        return exiting.db.run(statement);
      },
    });
    await run(changing);
    expect(await exitAllAt(id)).toBe(due);
    await run(changing);
    expect(await exits()).toEqual([1, 2, 3].map((position) => [position, due]));
    expect(await exitAllAt(id)).toBe(due + day);
  });

  it("handles the other lists when one fails, and then throws", async () => {
    await exiting.checkin.deliver(topics.eventChanged, [eventFact({ event: "nowhere", timezone: "Nowhere/Never" })]);
    await exiting.checkin.lists.createCheckinList({
      ...place,
      event: "nowhere",
      fields: listFields({ exitAllAt: due - hour }),
    });
    const id = await dueList();
    await expect(handle()).rejects.toThrow(RangeError);
    expect(await exitAllAt(id)).toBe(due + day);
  });
});
