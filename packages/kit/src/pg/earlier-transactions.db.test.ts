import type { TestDatabase } from "@tessera/testkit/database";
import { createFactDatabase } from "@tessera/testkit/fact-database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { pause } from "../waiting/pause.ts";
import type { Db } from "./database.ts";
import { waitForEarlierTransactions } from "./earlier-transactions.ts";
import { roleOf } from "./provision.ts";
import { sql } from "./sql.ts";
import { openUrgent } from "./urgent.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });
const never = new AbortController().signal;

let database: TestDatabase;
let db: Db;
let urgent: Db;

beforeAll(async () => {
  database = await createFactDatabase();
  db = database.open("owner");
  urgent = openUrgent({
    url: database.url,
    schema: "owner",
    role: roleOf("owner"),
    applicationName: "test-owner",
    log,
  });
});
afterAll(async () => {
  await urgent.close();
  await database.drop();
});

/** Begins a transaction, waits for the earlier ones, and tells what ended first. */
async function race(begin: (work: (tx: Pick<Db, "run">) => Promise<void>) => Promise<void>): Promise<string[]> {
  const ended: string[] = [];
  const began = Promise.withResolvers<void>();
  const transaction = begin(async (tx) => {
    await tx.run(sql`select 1`);
    began.resolve();
    await pause(200, never);
    ended.push("transaction");
  });
  await began.promise;
  await waitForEarlierTransactions((question) => db.transaction(question), never);
  ended.push("wait");
  await transaction;
  return ended;
}

it("[D4.1] waits for transactions of a service on all connections that write, and for those of no other one", async () => {
  expect(await race((work) => db.transaction(work))).toEqual(["transaction", "wait"]);
  expect(await race((work) => urgent.transaction(work))).toEqual(["transaction", "wait"]);
  expect(await race((work) => database.open("reader").transaction(work))).toEqual(["wait", "transaction"]);
});
