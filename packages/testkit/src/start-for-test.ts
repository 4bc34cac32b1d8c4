import { randomUUID } from "node:crypto";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { memoryCache } from "@tessera/engines/cache/memory-cache";
import { diskFiles } from "@tessera/engines/files/disk";
import { inProcess } from "@tessera/engines/grpc/in-process";
import { isErasedByKey } from "@tessera/events/personal-data/erased-kinds";
import type { Delivery } from "@tessera/kit/bus/bus";
import { header } from "@tessera/kit/bus/headers";
import { systemClock } from "@tessera/kit/clock";
import { readConfig, type Settings } from "@tessera/kit/config/config";
import type { Files } from "@tessera/kit/files/files";
import type { Db } from "@tessera/kit/pg/database";
import { type Reads, shareReads } from "@tessera/kit/pg/reads";
import { sql } from "@tessera/kit/pg/sql";
import { connect, type Implementation, type Transport } from "@tessera/kit/rpc";
import { type ClientMap, connectClients, type ServiceDefinition } from "@tessera/kit/service";
import { createLog } from "@tessera/kit/telemetry/log";
import { createMetrics } from "@tessera/kit/telemetry/metrics";
import { untraced } from "@tessera/kit/telemetry/trace";
import type { Topic } from "@tessera/protos/topic";
import { emptyTables } from "./empty-tables.ts";

export interface TestStart {
  readonly db: Db;
  /** For slow reads; by default the same database. */
  readonly reads?: Reads;
  readonly files?: Files;
  /** The implementations of other services, by name. */
  readonly peers?: Readonly<Record<string, readonly Implementation[]>>;
  /** The clock's time until a test moves it, in microseconds since 1970; by default the real time. */
  readonly now?: number;
}

/** How long tests wait for an answer, unless they say otherwise. */
const timeoutMs = 120_000;

/** This folder is made with the first file. Few tests store one. */
const neverMade = diskFiles({ directory: join(tmpdir(), "tessera-files-of-tests") });

/**
 * Starts a service on a database, from its definition. Tests call it as its peers do, deliver facts as a bus does, and run
 * its jobs.
 */
export async function startForTest<S extends Settings, C extends ClientMap>(
  definition: ServiceDefinition<S, C>,
  { db, reads = shareReads(db), files = neverMade, peers = {}, now = systemClock.now() }: TestStart,
) {
  const { name, settings, clients } = definition;
  const lines: string[] = [];
  const log = createLog({ service: name, level: "debug", destination: { write: (line) => lines.push(line) } });
  const clock = { at: now, now: () => clock.at };
  const network = inProcess({ log });
  for (const [peer, implementations] of Object.entries(peers)) network.serve(peer, implementations);
  const parts = await definition.open({
    config: readConfig(settings, {}),
    db,
    reads,
    urgent: db,
    cache: memoryCache(),
    files,
    clock,
    log,
    metrics: createMetrics(),
    tracing: untraced,
    isErased: isErasedByKey,
    isInstalled: () => true,
    clients: connectClients(clients, (service) => network.transportTo(service)),
  });
  network.serve(name, parts.implementations);
  const { call, ...rest } = network.transportTo(name);
  // A busy machine may take longer than peers wait.
  const transport: Transport = {
    ...rest,
    call: (method, request, options) => call(method, request, { timeoutMs, ...options }),
  };

  async function deliverMessages(topic: string, messages: readonly Delivery[]): Promise<void> {
    const consumer = parts.consumers.find((candidate) => candidate.topic === topic);
    if (consumer === undefined) throw new Error(`${name} does not consume ${topic}`);
    await consumer.deliver(messages, new AbortController().signal);
    const parked = await db.many<{ cause: string }>(sql`select dead_letter.cause from dead_letter`);
    if (parked.length > 0) throw new Error(`facts were parked: ${parked.map(({ cause }) => cause).join("; ")}`);
  }

  return {
    db,
    lines,
    /** A test moves it with `at`. */
    clock,
    connect: <D extends Implementation["definition"]>(service: D) => connect(service, transport),

    /**
     * Delivers facts to the consumer of their topic, in one batch. A text is the key of a deleted entity; `deletedAt` is
     * the revision of all deletions, and `at` the time of all facts.
     */
    async deliver<F>(
      topic: Topic<F>,
      facts: readonly (F | string)[],
      { deletedAt, at = clock.at }: { readonly deletedAt?: number; readonly at?: number } = {},
    ): Promise<void> {
      const messages = facts.map((fact) => ({
        topic: topic.name,
        partition: 0,
        key: typeof fact === "string" ? fact : topic.key(fact),
        value: typeof fact === "string" ? null : topic.encode(fact),
        headers: {
          [header.factId]: randomUUID(),
          [header.at]: String(at),
          ...(deletedAt === undefined ? {} : { [header.revision]: String(deletedAt) }),
        },
      }));
      await deliverMessages(topic.name, messages);
    },

    /**
     * Delivers the marker that ends a rebuild with this cutoff, for a topic with one partition. It began at `since`, in
     * microseconds since 1970.
     */
    async sweep(topic: { readonly name: string }, before: number, { since = 0 } = {}): Promise<void> {
      const headers = {
        [header.marker]: randomUUID(),
        [header.sweepBelow]: String(before),
        [header.sweepPartitions]: "1",
        [header.sweepSince]: String(since),
      };
      await deliverMessages(topic.name, [
        { topic: topic.name, partition: 0, key: "rebuild", value: new Uint8Array(), headers },
      ]);
    },

    close: () => parts.close(),

    async runJob(wanted: string): Promise<void> {
      const job = parts.jobs.find((candidate) => candidate.name === wanted);
      if (job === undefined) throw new Error(`there is no job ${wanted}`);
      await job.run(new AbortController().signal);
    },

    /** For `finishWork`. */
    workers: parts.workers,

    /** Restores the state after the start. */
    async reset(): Promise<void> {
      clock.at = now;
      lines.length = 0;
      await emptyTables(db);
    },
  };
}
