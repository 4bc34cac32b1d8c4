import { sql } from "@tessera/kit/pg/sql";
import { topics } from "@tessera/protos/topics";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { eventFact, place, positionFact } from "../testing/facts.ts";
import { type RunningCheckin, startCheckin } from "../testing/start-checkin.ts";
import { readForScans } from "./scan-reads.ts";

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
  await checkin.deliver(topics.eventChanged, [eventFact()]);
  await checkin.deliver(topics.positionChanged, [positionFact(1), positionFact(2)]);
});

it("[C3.46] only the read does without waiting for the disk, and each scan gets a number of its own", async () => {
  const list = (await checkin.createList()).id;
  const db = database.open("checkin");
  const setting = () =>
    db.one<{ setting: string; pid: number }>(
      sql`select current_setting('synchronous_commit') as setting, pg_backend_pid() as pid`,
    );
  const before = await setting();
  const lookup = { ...place, list, code: null, nonce: null };
  const reads = await readForScans(
    db,
    [1, 2, 1].map((ticketId) => ({ ...lookup, ticketId })),
  );
  expect(await setting()).toEqual({ ...before, setting: "on" });
  expect(reads.map((read) => read?.tickets.map(({ item }) => item !== undefined))).toEqual([[true], [true], [true]]);
  expect(new Set(reads.map((read) => read?.scanId)).size).toBe(3);
});
