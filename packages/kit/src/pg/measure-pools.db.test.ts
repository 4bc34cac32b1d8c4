import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createLog } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { measurePools } from "./measure-pools.ts";
import { roleOf } from "./provision.ts";
import { openReads, type Reads } from "./reads.ts";
import { sql } from "./sql.ts";

const log = createLog({ service: "test", destination: { write: () => {} } });

let database: TestDatabase;
let reads: Reads;

beforeAll(async () => {
  // A folder without .sql files: the schema has what the kit itself needs, and nothing else.
  database = await createTestDatabase([{ schema: "alpha", migrations: new URL("./", import.meta.url) }]);
  reads = openReads({ url: database.url, schema: "alpha", role: roleOf("alpha"), applicationName: "alpha", log });
});
afterAll(async () => {
  await reads.close();
  await database.drop();
});

it("the connections of pools are measured: used, idle, and callers that wait, for a connection or for their turn", async () => {
  const metrics = createMetrics();
  const db = database.open("alpha", { maxConnections: 1 });
  measurePools(metrics, { service: "alpha", pools: { requests: db, reads } });
  const gauge = async (pool: string, name: string, state = "") => {
    const labels = [`pool="${pool}"`, ...(state === "" ? [] : [`state="${state}"`])];
    const lines = (await metrics.exposition()).split("\n").filter((line) => line.startsWith(`tessera_db_${name}{`));
    return Number(
      lines
        .find((line) => labels.every((label) => line.includes(label)))
        ?.split(" ")
        .at(-1),
    );
  };
  const goOn = Promise.withResolvers<void>();
  await db.one(sql`select 1 as one`);
  expect(await gauge("requests", "connections", "idle")).toBe(1);
  const first = db.transaction(async () => goOn.promise);
  const second = db.one(sql`select 1 as one`);
  const ofOneParty = Array.from({ length: 3 }, () => reads.inTurn("party", async () => goOn.promise));
  await expect.poll(() => gauge("requests", "connections_waiting")).toBe(1);
  expect(await gauge("requests", "connections", "used")).toBe(1);
  expect(await gauge("requests", "connections", "idle")).toBe(0);
  expect(await gauge("requests", "connections_limit")).toBe(1);
  expect(await gauge("reads", "connections_waiting")).toBe(1);
  expect(await gauge("reads", "connections_limit")).toBe(4);
  goOn.resolve();
  await Promise.all([first, second, ...ofOneParty]);
  expect(await gauge("requests", "connections_waiting")).toBe(0);
});
