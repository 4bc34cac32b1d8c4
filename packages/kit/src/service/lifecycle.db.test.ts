import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryCache } from "@tessera/engines/cache/memory-cache";
import { diskFiles } from "@tessera/engines/files/disk";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { memoryBus } from "@tessera/engines/memory-bus";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { expect, it, onTestFinished } from "vitest";
import { nothingErased } from "../bus/dead-letter.ts";
import { sql } from "../pg/sql.ts";
import { defineService } from "../service.ts";
import { createLog, type Log } from "../telemetry/log.ts";
import { createMetrics } from "../telemetry/metrics.ts";
import { untraced } from "../telemetry/trace.ts";
import { createHealth } from "./health.ts";
import { type RunningService, startService } from "./lifecycle.ts";

const migrations = new URL("../testing/", import.meta.url);

async function createDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase([{ schema: "owner", migrations }]);
  onTestFinished(() => database.drop());
  return database;
}

/** Starts a service that does nothing by itself. */
async function startOn(database: TestDatabase, log: Log): Promise<RunningService> {
  const network = inProcess({ log });
  onTestFinished(() => network.close());
  const service = defineService({
    name: "owner",
    schema: "owner",
    settings: {},
    migrations,
    clients: {},
    rpcs: [],
    consumers: [],
    jobs: [],
    works: [],
    rebuilds: [],
    start: async () => ({ deps: {} }),
  });
  return startService(service, {
    environment: {},
    databaseUrl: database.url,
    role: "tessera_owner",
    bus: memoryBus([]),
    cache: memoryCache(),
    // Nothing is stored, so this folder is never made.
    files: diskFiles({ directory: join(tmpdir(), "tessera-lifecycle-files") }),
    log,
    metrics: createMetrics(),
    tracing: untraced,
    health: createHealth({ log }),
    isErased: nothingErased,
    owns: [],
    transportTo: (name) => network.transportTo(name),
    isInstalled: () => true,
    serve: async (implementations) => {
      const server = network.serve("owner", implementations);
      return { drain: async () => server.drain(), stop: () => server.stop(1000) };
    },
  });
}

it("a service starts though its tables of facts cannot be cleared, and says so", async () => {
  const database = await createDatabase();
  await database.open("owner").run(sql`alter table passed_marker rename to passed_marker_elsewhere`);
  const lines: string[] = [];
  const log = createLog({ service: "test", destination: { write: (line) => void lines.push(line) } });
  const running = await startOn(database, log);
  await running.stop();
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({ level: "error", message: "job failed; it runs again", job: "keep-fact-tables" }),
  );
});
