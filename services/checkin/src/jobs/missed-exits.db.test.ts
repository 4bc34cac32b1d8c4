import { sql } from "@tessera/kit/pg/sql";
import { describe, expect, it } from "vitest";
import { automaticExits, day, due, hour, run } from "../testing/exit-lists.ts";

const exiting = automaticExits();
const { dueList, enter, exitAllAt, exits, expectTrueCounts, handle, replica, sell } = exiting;

describe("an exit that was due several days ago", () => {
  it("[C7.9] follows for every day on which a ticket was inside, in order", async () => {
    const id = await dueList();
    await sell(1, 2, 3);
    await enter(id, 1, due - hour);
    await enter(id, 1, due + hour);
    await enter(id, 2, due + 2 * day + hour);
    await enter(id, 3, due + 3 * day);
    exiting.checkin.clock.at = due + 10 * day - 1;
    await run(replica());
    expect(await exits()).toEqual([
      [1, due],
      [1, due + day],
      [2, due + 3 * day],
      [3, due + 4 * day],
    ]);
    expect(await exitAllAt(id)).toBe(due + 10 * day);
    await expectTrueCounts();
  });

  it("[C7.9] follows for the first ticket that is inside, wherever it is read", async () => {
    const tickets = [1, 2, 3, 4, 5, 6, 7];
    for (const first of [1, 4, 7]) {
      await exiting.db.run(sql`delete from list`);
      const id = await dueList();
      await sell(...tickets);
      for (const position of tickets) await enter(id, position, due + (position === first ? day : 3 * day) + hour);
      exiting.checkin.clock.at = due + 3 * day;
      await run(replica());
      expect(await exits()).toContainEqual([first, due + 2 * day]);
      exiting.checkin.clock.at = due + 4 * day;
      await run(replica());
      await exiting.db.run(sql`delete from scan where auto_checked_in`);
    }
  });

  it("[C7.9] follows the next day where an entry arrived late", async () => {
    const id = await dueList();
    await sell(1);
    await handle();
    await enter(id, 1, due - hour);
    exiting.checkin.clock.at = due + 5 * day;
    await handle();
    expect(await exits()).toEqual([[1, due + day]]);
    expect(await exitAllAt(id)).toBe(due + 6 * day);
  });

  it("[C7.9] takes no longer for two thousand years", async () => {
    const id = await dueList({ exitAllAt: Date.UTC(2000, 0, 1, 4) * 1000 });
    await exiting.db.run(sql`update list set exit_all_at = '0001-01-01T04:00:00Z'`);
    await sell(1);
    await enter(id, 1, due - hour);
    exiting.checkin.clock.at = due + 3 * day;
    await handle();
    const [[, at = 0] = []] = await exits();
    expect(at).toBeGreaterThan(due - hour);
    expect(at).toBeLessThan(due + day);
    expect(await exits()).toHaveLength(1);
    expect(await exitAllAt(id)).toBeGreaterThan(exiting.checkin.clock.at);
  });
});
