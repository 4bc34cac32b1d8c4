import { chmod, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Progress, showProgress } from "@tessera/cli/command/progress";
import { migrateAll } from "@tessera/cli/migrate";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { createLog } from "@tessera/kit/telemetry/log";
import { removeWithParent } from "@tessera/testkit/engines/engine-process";
import { startKafka } from "@tessera/testkit/engines/kafka-broker";
import getPort from "get-port";
import { usualReplicas } from "../cluster/plan.ts";
import { startCluster } from "../cluster/start-cluster.ts";
import { startServing } from "../serving-process.ts";
import { operatorKey } from "./records.ts";

const log = createLog({ service: "bench", level: "warn", destination: process.stderr });

/** The engines of a benchmark. */
export interface Engines {
  /** Deleted at the end. */
  readonly directory: string;
  readonly postgres: EmbeddedPostgres;
  /** The settings by which services find the engines. */
  readonly settings: Readonly<Record<string, string>>;
  readonly progress: Progress;
  /** Opens the schema of a service as the service does, for long statements; without a name as the superuser. */
  open(schema?: string): Db;
  /** Does something at the end, before what was added earlier. */
  atEnd(step: () => Promise<unknown>): void;
}

/** A platform that holds nothing yet. */
export interface Platform extends Engines {
  readonly baseUrl: string;
  readonly processes: () => readonly { readonly name: string; readonly pid: number }[];
}

const topicPrefix = "tessera.";
const longestStatementMs = 600_000;

/** Works with new engines, of which nothing is left: also Ctrl-C removes their data. */
async function withEngines<T>(
  work: (engines: Engines) => Promise<T>,
  { kafka: hasKafka = false }: { readonly kafka?: boolean } = {},
): Promise<T> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-bench-"));
  const watchdog = removeWithParent(directory);
  const progress = showProgress();
  const steps: (() => Promise<unknown>)[] = [
    async () => {
      await rm(directory, { recursive: true, force: true });
      watchdog.release();
    },
  ];
  const atEnd = (step: () => Promise<unknown>) => void steps.push(step);
  try {
    // As root the database has an account of its own, which must get to its folder.
    await chmod(directory, 0o755);
    const postgres = await startEmbeddedPostgres({ directory: join(directory, "postgres") });
    atEnd(() => postgres.stop());
    const settings: Record<string, string> = { DATABASE_URL: postgres.url, FILES_DIR: join(directory, "files") };
    if (hasKafka) {
      const kafka = await startKafka({ directory: join(directory, "kafka") });
      atEnd(() => kafka.stop());
      Object.assign(settings, { BUS: "kafka", KAFKA_BROKERS: kafka.brokers, KAFKA_TOPIC_PREFIX: topicPrefix });
      await applyCatalogue(settings);
    }
    const open = (schema?: string) => {
      const db = openDatabase({
        url: postgres.url,
        schema: schema ?? "public",
        ...(schema === undefined ? {} : { role: roleOf(schema) }),
        applicationName: "bench",
        statementTimeoutMs: longestStatementMs,
        log,
      });
      atEnd(() => db.close());
      return db;
    };
    return await work({ directory, postgres, settings, progress, open, atEnd });
  } finally {
    progress.done();
    for (const step of steps.reverse()) await step();
  }
}

/** Works with everything in one process. */
export function inOneProcess<T>(
  work: (platform: Platform) => Promise<T>,
  { environment = {} }: { readonly environment?: Readonly<Record<string, string>> } = {},
): Promise<T> {
  return withEngines(async (engines) => {
    const { directory, postgres, atEnd } = engines;
    const port = await getPort({ host: "127.0.0.1" });
    const baseUrl = `http://127.0.0.1:${port}`;
    const data = join(directory, "platform");
    const serving = await startServing(
      ["all", "--port", String(port), "--data", data, "--database-url", postgres.url],
      { url: `${baseUrl}/api/v1/openapi.json`, environment: { ...environment, TESSERA_OPERATOR_KEY: operatorKey } },
    );
    atEnd(() => serving.stop());
    return work({ ...engines, baseUrl, processes: () => [{ name: "process", pid: serving.pid }] });
  });
}

const firstPort = 18_300;

/** Without it a process takes what the machine has before it collects garbage; in a small container it does not. */
const smallHeap = ["--max-semi-space-size=16", "--max-old-space-size=192"];

/** Works with a process for each service, and Kafka between them. */
export function onKafka<T>(
  work: (platform: Platform) => Promise<T>,
  { checkins = 1 }: { readonly checkins?: number } = {},
): Promise<T> {
  return withEngines(
    async (engines) => {
      const { postgres, settings, atEnd } = engines;
      await migrateAll({ url: postgres.url, names: ["all"] });
      const baseUrl = `http://127.0.0.1:${firstPort}`;
      const cluster = await startCluster({
        firstPort,
        replicas: { ...usualReplicas, gateway: 1, checkin: checkins },
        nodeOptions: smallHeap,
        environment: { ...settings, BASE_URL: baseUrl, OPERATOR_KEY: operatorKey, LOG_LEVEL: "warn" },
        onLine: (name, line) => process.stderr.write(`${name} ${line}\n`),
      });
      atEnd(() => cluster.stop());
      const processes = () => cluster.processes.map(({ plan, pid }) => ({ name: plan.name, pid: pid() ?? 0 }));
      return work({ ...engines, baseUrl, processes });
    },
    { kafka: true },
  );
}
