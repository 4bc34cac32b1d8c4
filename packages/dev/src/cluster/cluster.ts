import { createWriteStream, type WriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { readDatabaseUrl, readOptions, refuseNames } from "@tessera/cli/command/options";
import { showProgress } from "@tessera/cli/command/progress";
import { requireConfiguration } from "@tessera/cli/configuration/require-configuration";
import { shownKeys } from "@tessera/cli/configuration/served-environment";
import { requireReadable } from "@tessera/cli/import/import";
import { openLocalData } from "@tessera/cli/local/local-data";
import { openLocalDatabase } from "@tessera/cli/local/local-database";
import { noteLocalPlatform } from "@tessera/cli/local/local-platform";
import { migrateAll } from "@tessera/cli/migrate";
import { isFree } from "@tessera/cli/serve/choose-port";
import { confirmFresh } from "@tessera/cli/serve/confirm-fresh";
import { fill, keptDemoKeys } from "@tessera/cli/serve/fill";
import { onSignal } from "@tessera/cli/serve/on-signal";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { Fault } from "@tessera/kit/fault";
import { createLog } from "@tessera/kit/telemetry/log";
import { engines } from "@tessera/testkit/engines/all-engines";
import { startKafka } from "@tessera/testkit/engines/kafka-broker";
import { startRedis } from "@tessera/testkit/engines/redis-server";
import { fault } from "../faults.ts";
import { type ClusterValues, clusterOptions } from "./options.ts";
import { planProcesses, readFirstPort, usualReplicas } from "./plan.ts";
import { printTable } from "./print-table.ts";
import { startCluster } from "./start-cluster.ts";

const usage = `npm run cluster --  [OPTIONS]

Runs a cluster on this machine: one process per part, two gateways, two of check-in, on PostgreSQL, Kafka and Redis. It
downloads the broker (with Java and Maven) and Redis if they are missing; all data is in the data folder.`;

/** Runs the whole set of processes until a signal. */
export async function cluster(args: string[]): Promise<void> {
  const read = readOptions(usage, clusterOptions, args);
  if (read === undefined) return;
  refuseNames(read.names);
  await requireUsable(read.values);
  const stopping = onSignal();
  const started = await start(read.values, stopping.signal);
  await stopping.requested;
  await started.stop();
}

/** Refuses what no start can be made of, before anything starts. */
async function requireUsable(values: ClusterValues): Promise<void> {
  readFirstPort(values.port);
  const { TESSERA_OPERATOR_KEY, DATABASE_URL } = process.env;
  const environment = { TESSERA_OPERATOR_KEY, DATABASE_URL: values["database-url"] ?? DATABASE_URL };
  await requireConfiguration(["all"], { environment, data: values.data });
  if (values.import !== undefined) await requireReadable(values.import);
}

async function start(values: ClusterValues, signal: AbortSignal): Promise<{ stop(): Promise<void> }> {
  const firstPort = readFirstPort(values.port);
  const databaseUrl = readDatabaseUrl(values["database-url"], process.env);
  await requireFreePorts(firstPort);
  requireEngines();
  const progress = showProgress();
  if (values.fresh) await confirmFresh(resolve(values.data));
  const data = await openLocalData({ directory: resolve(values.data), fresh: values.fresh });
  const kafkaDirectory = join(data.directory, "kafka");
  // The messages in it belong to the deleted database.
  if (values.fresh) await rm(kafkaDirectory, { recursive: true, force: true });
  const logs = openLogs(data.directory);
  const log = createLog({
    service: "cluster",
    destination: { write: (line) => logs.write("cluster", line.trimEnd()) },
  });
  const undo: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const step of undo.splice(0).reverse()) await step();
    await logs.close();
  };
  const begin = async <T extends { stop(): Promise<void> }>(what: string, starting: () => Promise<T>): Promise<T> => {
    signal.throwIfAborted();
    progress.update(`starting ${what}…`);
    const engine = await starting().catch((error: unknown) => {
      throw explainEngine(what, error);
    });
    undo.push(() => engine.stop());
    return engine;
  };
  try {
    const { operatorKey, madeOperatorKey } = await data.operatorKey(process.env);
    const database = await begin("PostgreSQL", () =>
      openLocalDatabase({
        url: databaseUrl,
        directory: data.database,
        fresh: values.fresh,
        log,
      }),
    );
    const kafka = await begin("Kafka", () => startKafka({ directory: kafkaDirectory }));
    const redis = await begin("Redis", () => startRedis());
    const addresses = {
      BUS: "kafka",
      KAFKA_BROKERS: kafka.brokers,
      CACHE: "redis",
      REDIS_URL: redis.url,
      FILES_DIR: data.files,
    };
    progress.update("preparing the database and the topics…");
    await migrateAll({ url: database.url, names: ["all"] });
    await applyCatalogue(addresses);
    const baseUrl = `http://127.0.0.1:${firstPort}`;
    const running = await begin("services", async () =>
      startCluster({
        firstPort,
        environment: {
          ...addresses,
          DATABASE_URL: database.url,
          BASE_URL: baseUrl,
          OPERATOR_KEY: operatorKey,
          ...(values.demo ? shownKeys(await keptDemoKeys(data)) : {}),
        },
        onLine: logs.write,
      }),
    );
    const keys = await fill({
      url: baseUrl,
      operatorKey,
      demo: values.demo,
      file: values.import,
      data,
      progress,
      signal,
    });
    const plans = running.processes.map(({ plan }) => plan);
    const note = await noteLocalPlatform(data.directory, {
      url: baseUrl,
      baseUrl,
      processes: plans.map(({ name, ports: { operations } }) => ({ name, operationsPort: operations })),
      isKeyInFolder: madeOperatorKey !== undefined,
    });
    undo.push(() => note.forget());
    progress.done();
    printTable({
      processes: plans,
      engines: [
        ["PostgreSQL", withoutPassword(database.url)],
        ["Kafka", kafka.brokers],
        ["Redis", redis.url],
      ],
      baseUrls: running.baseUrls,
      madeOperatorKey,
      logs: data.directory,
      keys,
    });
    return { stop };
  } catch (error) {
    progress.done();
    await stop();
    if (signal.aborted) return { stop: async () => {} };
    throw error;
  }
}

/** Before anything starts: a download that cannot be used later would take minutes. */
function requireEngines(): void {
  for (const name of ["kafka", "redis"] as const) {
    const found = engines[name]?.find();
    if (found === undefined || found.available) continue;
    const remedy = found.remedy.replace(/\.$/, "");
    throw fault("engine_missing", `${found.reason}; ${remedy.charAt(0).toLowerCase()}${remedy.slice(1)}`);
  }
}

async function requireFreePorts(firstPort: number): Promise<void> {
  for (const { name, ports } of planProcesses(usualReplicas, { firstPort })) {
    for (const port of Object.values(ports)) {
      if (await isFree(port, "127.0.0.1")) continue;
      throw fault("port_in_use", `port ${port}, meant for ${name}, is in use; choose others with --port N`);
    }
  }
}

/** An installer or an engine reports its failure by the last line of its output. */
function explainEngine(what: string, error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Fault || what === "services") return error;
  const lines = error.message.split("\n").filter((line) => line.trim() !== "");
  return fault(
    "engine_failed",
    `${what} does not start: ${(lines.at(-1) ?? error.name).trim()}; remove the cause and start again`,
    {
      cause: error,
    },
  );
}

/** One log file per process in the data folder. */
function openLogs(directory: string): { write(name: string, line: string): void; close(): Promise<void> } {
  const streams = new Map<string, WriteStream>();
  return {
    write(name, line) {
      let stream = streams.get(name);
      if (stream === undefined) {
        stream = createWriteStream(join(directory, `${name}.log`), { flags: "a", mode: 0o600 });
        streams.set(name, stream);
      }
      stream.write(`${line}\n`);
    },
    async close() {
      for (const stream of streams.values()) await new Promise<void>((written) => stream.end(written));
    },
  };
}

function withoutPassword(url: string): string {
  return url.replace(/:[^:/@]*@/, "@");
}
