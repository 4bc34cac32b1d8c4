import { getPriority, tmpdir } from "node:os";
import { join } from "node:path";
import { diskFiles } from "@tessera/engines/disk";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { memoryBus } from "@tessera/engines/memory-bus";
import { memoryCache } from "@tessera/engines/memory-cache";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { expect, it, onTestFinished, vi } from "vitest";
import type { Settings } from "./config.ts";
import { createHealth } from "./health.ts";
import { type RunningService, startService } from "./lifecycle.ts";
import { createLog, type Log } from "./log.ts";
import { createMetrics } from "./metrics.ts";
import type { Queryable } from "./pg/database.ts";
import { sql } from "./pg/sql.ts";
import { type ClientMap, defineService, type Runtime } from "./service.ts";
import { untraced } from "./trace.ts";

/** Of what gives way. Tests may run with a lower priority than that. */
const given = Math.max(7, getPriority());

const migrations = new URL("./testing/", import.meta.url);

async function createDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase([{ schema: "owner", migrations }]);
  onTestFinished(() => database.drop());
  return database;
}

/** Starts a service that does nothing by itself. */
async function startOn(
  database: TestDatabase,
  { log, onRuntime = () => {} }: { readonly log: Log; onRuntime?(runtime: Runtime<Settings, ClientMap>): void },
): Promise<RunningService> {
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
    async start(runtime) {
      onRuntime(runtime);
      return { deps: {} };
    },
  });
  return startService(service, {
    environment: {},
    databaseUrl: database.url,
    role: "tessera_owner",
    bus: memoryBus([]),
    cache: memoryCache({ log }),
    // Nothing is stored, so this folder is never made.
    files: diskFiles({ directory: join(tmpdir(), "tessera-lifecycle-files") }),
    log,
    metrics: createMetrics(),
    tracing: untraced,
    health: createHealth({ log }),
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
  const running = await startOn(database, { log });
  await running.stop();
  expect(lines.map((line) => JSON.parse(line) as unknown)).toContainEqual(
    expect.objectContaining({ level: "error", message: "job failed; it runs again", job: "keep-fact-tables" }),
  );
});

it.runIf(process.platform === "linux")(
  "facts, jobs and changes give way in the database; what is urgent, and reads that a caller waits for, do not",
  async () => {
    const database = await createDatabase();
    const log = createLog({ service: "test", destination: { write: () => {} } });
    const opened: Runtime<Settings, ClientMap>[] = [];
    const running = await startOn(database, { log, onRuntime: (runtime) => opened.push(runtime) });
    onTestFinished(() => running.stop());
    const [{ db, reads, urgent }] = opened as [Runtime<Settings, ClientMap>];
    const processOf = async (on: Queryable) => (await on.one<{ pid: number }>(sql`select pg_backend_pid() as pid`)).pid;
    const others = [await processOf(urgent), await reads.inTurn("one", processOf)];
    const ours = await processOf(db);
    await vi.waitFor(() => expect(getPriority(ours)).toBe(given));
    for (const pid of others) expect(getPriority(pid)).toBe(getPriority());
  },
);
