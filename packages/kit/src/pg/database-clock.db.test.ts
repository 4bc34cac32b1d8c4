import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { Fault } from "../fault.ts";
import type { Db } from "./database.ts";
import { openDatabaseClock } from "./database-clock.ts";
import { sql } from "./sql.ts";

const second = 1_000_000;
const signal = new AbortController().signal;

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "alpha", migrations: new URL("./", import.meta.url) }]);
  db = database.open("alpha");
});
afterAll(() => database.drop());
afterEach(() => vi.restoreAllMocks());

const readTime = async () => (await db.one<{ time: number }>(sql`select clock_timestamp() as time`)).time;

/** A database that answers with its time after a while, by the count of the test. */
function slowDatabase(ahead: number) {
  const state = { count: 0, ahead, takes: 0, isAway: false };
  const one = async <Row>() => {
    if (state.isAway) throw new Fault("unavailable", "database_unavailable", "away");
    const time = state.ahead + state.count + state.takes / 2;
    state.count += state.takes;
    return { time } as Row;
  };
  return { state, open: () => openDatabaseClock({ ...db, one }, () => state.count) };
}

describe("the clock of a database", () => {
  it.each([-1, 1])(
    "shows the time of the database where the clock of the machine is %s × ten minutes off",
    async (sign) => {
      const machine = Date.now;
      vi.spyOn(Date, "now").mockImplementation(() => machine() + sign * 600_000);
      const clock = await openDatabaseClock(db);
      const before = await readTime();
      const shown = clock.now();
      expect(Math.abs(shown - before)).toBeLessThan(second);
      expect(Number.isSafeInteger(shown)).toBe(true);
    },
  );

  it("follows a database whose time is another one, as after a failover", async () => {
    const { state, open } = slowDatabase(100 * second);
    const clock = await open();
    expect(clock.now()).toBe(100 * second);
    state.ahead = 90 * second;
    state.count = second;
    await clock.compare.run(signal);
    expect(clock.now()).toBe(91 * second);
  });

  it("does not jump with answers that take long", async () => {
    const { state, open } = slowDatabase(100 * second);
    const clock = await open();
    state.takes = 4 * second;
    await clock.compare.run(signal);
    expect(clock.now()).toBe(104 * second);
  });

  it("goes on while the database is away", async () => {
    const { state, open } = slowDatabase(100 * second);
    const clock = await open();
    state.isAway = true;
    state.count = 5 * second;
    await clock.compare.run(signal);
    expect(clock.now()).toBe(105 * second);
  });
});
