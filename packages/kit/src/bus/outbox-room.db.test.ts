import type { TestDatabase } from "@tessera/testkit/database";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { numberedTopic } from "@tessera/testkit/fact-pipeline";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import type { Db } from "../pg/database.ts";
import { sql } from "../pg/sql.ts";
import { hasOutboxRoom, untilOutboxRoom } from "./outbox-room.ts";

const topic = numberedTopic("owner.first.v1");

let database: TestDatabase;
let db: Db;

beforeAll(async () => {
  database = await createFactDatabase();
  db = database.open("owner");
});
afterAll(() => database.drop());
beforeEach(async () => {
  await db.run(sql`delete from outbox`);
});

const publish = (count: number) =>
  db.transaction((tx) =>
    tx.publish(
      topic,
      Array.from({ length: count }, (_, number) => ({ key: "k", number })),
    ),
  );

it("has room until two thousand facts wait", async () => {
  await publish(1999);
  expect(await hasOutboxRoom(db)).toBe(true);
  await publish(1);
  expect(await hasOutboxRoom(db)).toBe(false);
});

it("is waited for until facts have left, and no longer than its caller wants", async () => {
  await publish(2000);
  const stopped = new AbortController();
  const [one, other] = [
    untilOutboxRoom(db, stopped.signal),
    untilOutboxRoom(db, new AbortController().signal).then(() => "room" as const),
  ];
  stopped.abort();
  await one;
  expect(await hasOutboxRoom(db)).toBe(false);
  await db.run(sql`delete from outbox where outbox.id = (select min(outbox.id) from outbox)`);
  expect(await other).toBe("room");
});
