import type { Bus } from "../bus/bus.ts";
import { askFirst, catchUp, isFirst } from "../bus/catch-up.ts";
import type { OpenConsumer } from "../bus/consume.ts";
import type { IsErased } from "../bus/dead-letter.ts";
import { keepFactTables } from "../bus/keep-tables.ts";
import { factsService } from "../bus/markers.ts";
import { measureFacts } from "../bus/measure-facts.ts";
import { moveSegments, type OwnTopic } from "../bus/move-segments.ts";
import { rebuildTopics } from "../bus/rebuild-topics.ts";
import { rebuildsService, refreshCopies } from "../bus/refresh-copies.ts";
import { startRelay } from "../bus/relay.ts";
import { replayDeadLetters } from "../bus/replay-dead-letters.ts";
import type { Cache } from "../cache/cache.ts";
import { type Environment, readConfig, type Settings } from "../config/config.ts";
import type { Files } from "../files/files.ts";
import { runJobs } from "../jobs/interval.ts";
import { startWorkers } from "../jobs/workers.ts";
import { type Db, openDatabase } from "../pg/database.ts";
import { openDatabaseClock } from "../pg/database-clock.ts";
import { keepStatistics } from "../pg/keep-statistics.ts";
import { measurePools } from "../pg/measure-pools.ts";
import { requireMigrated } from "../pg/migrate.ts";
import { openReads } from "../pg/reads.ts";
import { requireAnswer } from "../pg/require-answer.ts";
import { openUrgent } from "../pg/urgent.ts";
import type { Implementation, Transport } from "../rpc.ts";
import { type ClientMap, connectClients, type Server, type ServiceDefinition } from "../service.ts";
import type { Log } from "../telemetry/log.ts";
import type { Metrics } from "../telemetry/metrics.ts";
import type { Tracing } from "../telemetry/trace.ts";
import { tracePlaced, traceServed } from "../telemetry/trace-calls.ts";
import type { Health } from "./health.ts";

/** What a service runs on. The same definition runs on any of these. */
export interface Surroundings {
  readonly environment: Environment;
  readonly databaseUrl: string;
  readonly role?: string;
  readonly maxConnections?: number;
  readonly bus: Bus;
  readonly cache: Cache;
  readonly files: Files;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly tracing: Tracing;
  readonly health: Health;
  readonly isErased: IsErased;
  /** The topics that the service owns, from the catalogue. */
  readonly owns: readonly OwnTopic[];
  /** How long dead letters are kept. */
  readonly deadLettersMs?: number;
  transportTo(name: string): Transport;
  /** Whether it can be called, here or elsewhere. */
  isInstalled(name: string): boolean;
  /** Makes the service callable by its peers. */
  serve(implementations: readonly Implementation[]): Promise<Served>;
}

/** Stops the calls of a service. */
export interface Served {
  drain(): Promise<void>;
  stop(): Promise<void>;
}

export interface RunningService {
  readonly name: string;
  readonly db: Db;
  /** Sends clients from outside elsewhere; they are still answered. */
  leave(): void;
  /** Refuses requests from outside; resolves when those under way are answered. */
  drain(): Promise<void>;
  /** Refuses calls of peers; running calls go on. */
  refuseCalls(): Promise<void>;
  /** Stops the rest in the reverse order of its start. */
  stop(): Promise<void>;
}

const hour = 3_600_000;

/**
 * Starts a service: database, parts, jobs, what it must catch up with, calls of peers, consumers, relay, and last its
 * servers. Services may start in any order: calls wait for their peer within their deadline.
 */
export async function startService<S extends Settings, C extends ClientMap>(
  definition: ServiceDefinition<S, C>,
  around: Surroundings,
): Promise<RunningService> {
  const { name, schema } = definition;
  const { bus, metrics, tracing, health, isErased } = around;
  const log = around.log.with({ service: name });
  const config = readConfig(definition.settings, around.environment);
  const connection = {
    url: around.databaseUrl,
    schema,
    role: around.role,
    applicationName: `tessera-${name}`,
    log,
    tracing,
  };
  await requireMigrated({ ...connection, migrations: definition.migrations });

  const undo: (() => Promise<void>)[] = [];
  // For facts, jobs and changes. What is urgent, and reads that a caller waits for, have connections of their own.
  const db = openDatabase({ ...connection, maxConnections: around.maxConnections });
  undo.push(() => db.close());
  const reads = openReads(connection);
  undo.push(() => reads.close());
  const urgent = openUrgent(connection);
  undo.push(() => urgent.close());
  measurePools(metrics, { service: name, pools: { requests: db, reads, urgent } });
  let served: Served | undefined;
  let servers: readonly Server[] = [];
  try {
    health.dependency(`${name} database`, () => requireAnswer({ db, urgent }));
    const clock = await openDatabaseClock(db);
    const keepTables = () => keepFactTables(db, clock, { log, deadLettersMs: around.deadLettersMs });
    // A failure costs only disk space: the service starts all the same.
    await keepTables().catch((error: unknown) =>
      log.error("job failed; it runs again", { job: "keep-fact-tables", error }),
    );
    const parts = await definition.open({
      config,
      db,
      reads,
      urgent,
      cache: around.cache,
      files: around.files,
      clock,
      log,
      metrics,
      tracing,
      isErased,
      clients: connectClients(definition.clients, (service) => tracePlaced(tracing, around.transportTo(service))),
      isInstalled: (service) => around.isInstalled(service),
    });
    undo.push(() => parts.close());
    ({ servers } = parts);
    const meter = measureFacts({ db, bus, clock, log, metrics, group: name, consumes: definition.consumes });
    const ours = [
      { name: "keep-fact-tables", everyMs: hour, run: keepTables },
      clock.compare,
      keepStatistics(db),
      replayDeadLetters({ db, group: name, consumers: parts.consumers, log }),
      refreshCopies({ consumers: parts.consumers, transportTo: around.transportTo, log }),
      rebuildTopics({ db, bus, rebuilds: definition.rebuilds ?? [], log }),
      moveSegments({ db, bus, owns: around.owns }),
      meter.job,
    ];
    const jobs = runJobs([...parts.jobs, ...ours], log);
    undo.push(() => jobs.stop());
    const [first, others] = [parts.consumers.filter(isFirst), parts.consumers.filter((each) => !isFirst(each))];
    await askFirst(first);
    const workers = startWorkers({ db, workers: parts.workers, clock, log, metrics, service: name });
    undo.push(() => workers.stop());
    const subscribe = (consumer: OpenConsumer) =>
      bus.subscribe({
        group: name,
        topic: consumer.topic,
        deliver: (messages, signal) => meter.during(consumer.topic, messages, () => consumer.deliver(messages, signal)),
      });
    for (const consumer of first) await subscribe(consumer);
    await catchUp(first, { bus, group: name, log });
    const owns = around.owns.map((topic) => topic.name);
    const facts = factsService({ db, bus, group: name, owns, consumes: definition.consumes });
    const calls = await around.serve(
      traceServed(tracing, [...parts.implementations, facts, rebuildsService({ db, owns })]),
    );
    served = calls;
    undo.push(() => calls.stop());
    for (const consumer of others) await subscribe(consumer);
    const relayed = metrics.counter("facts_relayed_total", "Facts handed to the bus.", ["service"]);
    const relay = startRelay({
      db,
      writers: [urgent],
      bus,
      log,
      isErased,
      states: new Set(around.owns.filter(({ retention }) => retention.kind === "compacted").map((topic) => topic.name)),
      onBatch: (facts) => relayed.add({ service: name }, facts),
    });
    undo.push(() => relay.stop());
    for (const server of servers) {
      await server.start();
      undo.push(() => server.stop());
    }
  } catch (error) {
    await unwind(undo);
    throw error;
  }
  log.info("service started", {});
  return {
    name,
    db,
    leave() {
      for (const server of servers) server.leave();
    },
    async drain() {
      for (const server of servers) await server.drain();
      for (const server of servers) await server.stop();
    },
    refuseCalls: async () => served?.drain(),
    async stop() {
      await unwind(undo);
      log.info("service stopped", {});
    },
  };
}

async function unwind(undo: (() => Promise<void>)[]): Promise<void> {
  for (const step of undo.reverse()) await step();
}
