import { mkdtemp, rm } from "node:fs/promises";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { kafkaBus } from "@tessera/kit/bus/kafka";
import { createLog } from "@tessera/kit/log";
import { openDatabase } from "@tessera/kit/pg/database";
import { startEmbeddedPostgres } from "@tessera/kit/pg/embedded";
import { sql } from "@tessera/kit/pg/sql";
import { startKafka } from "@tessera/testkit/engines/kafka-broker";
import { type Drain, fillBacklog, watchDrain, writeBare } from "./bench-facts-backlog.ts";
import { type Delays, measureDelays } from "./bench-facts-delay.ts";
import { startServing, type Usage, usageOf, usageOfPostgres } from "./bench-processes.ts";
import { migrateAll } from "./migrate.ts";
import { showProgress } from "./progress.ts";
import { applyCatalogue } from "./topics/catalogue.ts";

/** What is promised: numbers to hold the run against. */
const promised = { p99Ms: 100, ratio: 0.5 } as const;

const rate = 2000;
const topicPrefix = "tessera.";

/**
 * Measures facts on the way from boxoffice's schema to check-in's, over PostgreSQL and Kafka, with check-in in a process
 * of its own: how long one takes under a steady load, and how fast a backlog is drained, compared with bare upserts of
 * the rows that it leaves.
 */
export async function benchFacts({ facts, seconds }: { facts: number; seconds: number }): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-bench-"));
  const progress = showProgress();
  const log = createLog({ service: "bench", level: "warn", destination: process.stderr });
  const undo: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  try {
    progress.update("starting PostgreSQL and Kafka…");
    const postgres = await startEmbeddedPostgres({ directory, settings: { track_commit_timestamp: "on" } });
    undo.push(() => postgres.stop());
    const kafka = await startKafka();
    undo.push(() => kafka.stop());
    const { url } = postgres;
    const settings = {
      BUS: "kafka",
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_TOPIC_PREFIX: topicPrefix,
      DATABASE_URL: url,
      // Nobody scans, so nobody asks it anything.
      BOXOFFICE_ADDRESS: "127.0.0.1:1",
    };
    await migrateAll({ url, names: ["boxoffice", "checkin"] });
    await applyCatalogue(settings);
    const bus = kafkaBus({ brokers: kafka.brokers.split(","), clientId: "tessera-bench", topicPrefix, log });
    undo.push(() => bus.close());
    const checkin = openDatabase({
      url,
      schema: "checkin",
      applicationName: "bench",
      log,
      statementTimeoutMs: 300_000,
    });
    undo.push(() => checkin.close());
    const load = [loadavg()[0] ?? 0];
    const delays =
      seconds === 0 ? undefined : await delaysOf({ settings, url, bus, checkin, rate, seconds, log, progress });
    load.push(loadavg()[0] ?? 0);
    const bytes = await fillBacklog(bus, { facts, progress });
    await checkin.run(sql`checkpoint`);
    load.push(loadavg()[0] ?? 0);
    const before = await usageOfPostgres(postgres.dataDirectory);
    const started = performance.now();
    const serving = await startServing("checkin", settings);
    undo.push(() => serving.stop());
    const drain = await watchDrain(checkin, { facts, started, progress });
    const [consumer, after] = [await usageOf(serving.pid), await usageOfPostgres(postgres.dataDirectory)];
    load.push(loadavg()[0] ?? 0);
    const bare = await writeBare({ url, facts, ...drain, log, progress });
    const afterBare = await usageOfPostgres(postgres.dataDirectory);
    load.push(loadavg()[0] ?? 0);
    progress.done();
    print({
      facts,
      bytes,
      delays,
      drain,
      barePerSecond: bare.perSecond,
      consumer,
      postgres: {
        drainSeconds: after.cpuSeconds - before.cpuSeconds,
        bareSeconds: afterBare.cpuSeconds - after.cpuSeconds,
        peakMegabytes: afterBare.peakMegabytes,
      },
      load,
    });
    if (drain.perSecond / bare.perSecond < promised.ratio || (delays?.p99 ?? 0) >= promised.p99Ms) process.exitCode = 1;
  } finally {
    progress.done();
    for (const step of undo.reverse()) await step();
  }
}

/** With a check-in process of its own, and without a trace, so that the backlog meets empty tables and a fresh process. */
async function delaysOf({
  settings,
  ...options
}: Parameters<typeof measureDelays>[0] & { settings: Readonly<Record<string, string>> }): Promise<Delays> {
  const serving = await startServing("checkin", settings);
  try {
    return await measureDelays(options);
  } finally {
    await serving.stop();
    await options.checkin.run(sql`truncate position, inbox, count_delta`);
  }
}

function print(result: {
  facts: number;
  bytes: number;
  delays: Delays | undefined;
  drain: Drain;
  barePerSecond: number;
  consumer: Usage;
  postgres: { drainSeconds: number; bareSeconds: number; peakMegabytes: number };
  load: readonly number[];
}): void {
  const { facts, delays, drain, barePerSecond, consumer, postgres } = result;
  const each = (seconds: number) => `${((seconds * 1e6) / facts).toFixed(0)} µs a fact`;
  const rows: [string, string][] = [];
  if (delays !== undefined) {
    rows.push(
      ["facts from commit to effect", `${delays.facts}, ${delays.perSecond.toFixed(0)} a second`],
      ["  half of them within", `${delays.p50.toFixed(1)} ms`],
      ["  99 % within", `${delays.p99.toFixed(1)} ms (limit ${promised.p99Ms} ms)`],
      ["  the slowest", `${delays.max.toFixed(1)} ms`],
    );
  }
  rows.push(
    ["backlog", `${facts} facts of ${(result.bytes / facts).toFixed(0)} bytes`],
    ["  drained at", `${drain.perSecond.toFixed(0)} facts a second`],
    ["  after the start of the process", `${drain.seconds.toFixed(1)} s`],
    ["  facts to a transaction", String(drain.batch)],
    ["  transactions at a time", String(drain.connections)],
    ["bare upserts of the same rows", `${barePerSecond.toFixed(0)} rows a second`],
    ["ratio to bare upserts", `${(drain.perSecond / barePerSecond).toFixed(2)} (limit ${promised.ratio})`],
    ["CPU of the consumer's process", each(consumer.cpuSeconds)],
    ["CPU of PostgreSQL, drain", each(postgres.drainSeconds)],
    ["CPU of PostgreSQL, bare upserts", each(postgres.bareSeconds)],
    ["peak memory, consumer's process", `${consumer.peakMegabytes.toFixed(0)} MiB`],
    ["peak memory, largest PostgreSQL process", `${postgres.peakMegabytes.toFixed(0)} MiB, shared buffers included`],
    ["load of the machine", result.load.map((each) => each.toFixed(1)).join(", ")],
  );
  const width = Math.max(...rows.map(([name]) => name.length));
  process.stdout.write(`${rows.map(([name, value]) => `${name.padEnd(width)}  ${value}`).join("\n")}\n`);
}
