import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { requireAnswer } from "./require-answer.ts";

let database: TestDatabase;

beforeAll(async () => {
  database = await createTestDatabase([{ schema: "alpha", migrations: new URL("./", import.meta.url) }]);
});
afterAll(() => database.drop());

it("[S4.41] a database whose connections are all used by requests is not lost", async () => {
  const [db, urgent] = [database.open("alpha", { maxConnections: 1 }), database.open("alpha")];
  await requireAnswer({ db, urgent });
  // Another connection is for this case alone.
  expect(urgent.pool().idle).toBe(0);
  await db.transaction(() => requireAnswer({ db, urgent }));
  expect(urgent.pool().idle).toBe(1);
});
