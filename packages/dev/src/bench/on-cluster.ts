import { join } from "node:path";
import { migrateAll } from "@tessera/cli/migrate";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { type EmbeddedPostgres, startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { startKafka } from "@tessera/testkit/engines/kafka-broker";
import type { Replicas } from "../cluster/plan.ts";
import { type Cluster, startCluster } from "../cluster/start-cluster.ts";
import { operatorKey } from "./on-empty-platform.ts";
import { makeScratchFolder } from "./scratch-folder.ts";

const firstPort = 18_300;

/** One process of each service. */
export const oneOfEach: Replicas = {
  boxoffice: 1,
  checkin: 1,
  gateway: 1,
  "layout-and-render": 1,
  "offline-sales": 1,
  shredder: 1,
  voucher: 1,
};

/** Without it a process takes what the machine has before it collects garbage; in a small container it does not. */
export const smallHeap = ["--max-semi-space-size=16", "--max-old-space-size=192"];

/** A platform of many processes, with PostgreSQL and Kafka of its own, that holds nothing yet. */
export interface EmptyCluster {
  readonly baseUrl: string;
  readonly postgres: EmbeddedPostgres;
  readonly processes: Cluster["processes"];
}

/** Runs a benchmark on an empty cluster, of which nothing is left. */
export async function onCluster<T>(
  {
    replicas,
    nodeOptions = [],
    environment = {},
  }: {
    readonly replicas: Replicas;
    readonly nodeOptions?: readonly string[];
    readonly environment?: Readonly<Record<string, string>>;
  },
  work: (cluster: EmptyCluster) => Promise<T>,
): Promise<T> {
  const folder = await makeScratchFolder();
  const directory = folder.path;
  const undo: (() => Promise<unknown>)[] = [() => folder.remove()];
  try {
    const postgres = await startEmbeddedPostgres({ directory });
    undo.push(() => postgres.stop());
    const kafka = await startKafka({ directory: join(directory, "kafka") });
    undo.push(() => kafka.stop());
    const engines = { BUS: "kafka", KAFKA_BROKERS: kafka.brokers, FILES_DIR: join(directory, "files") };
    await migrateAll({ url: postgres.url, names: ["all"] });
    await applyCatalogue(engines);
    const baseUrl = `http://127.0.0.1:${firstPort}`;
    const cluster = await startCluster({
      firstPort,
      replicas,
      nodeOptions,
      environment: {
        ...environment,
        ...engines,
        DATABASE_URL: postgres.url,
        BASE_URL: baseUrl,
        OPERATOR_KEY: operatorKey,
        LOG_LEVEL: "warn",
      },
      onLine: (name, line) => process.stderr.write(`${name} ${line}\n`),
    });
    undo.push(() => cluster.stop());
    return await work({ baseUrl, postgres, processes: cluster.processes });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}
