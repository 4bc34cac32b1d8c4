import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrateAll } from "@tessera/cli/migrate";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { startKafka } from "@tessera/testkit/engines/kafka-broker";
import { startCluster } from "../cluster/start-cluster.ts";
import { batchGround, makeBatch, renderBatch } from "./offline-batches.ts";
import { operatorKey, sendRecords } from "./on-empty-platform.ts";
import { usageOf } from "./usage.ts";

/** What the parts take, each in a process of its own. */
export interface Parts {
  readonly createdMs: number;
  readonly renderedMs: number;
  /** Without that of the browser. */
  readonly memory: readonly { readonly name: string; readonly megabytes: number }[];
}

const firstPort = 18_300;

/** Without it a process takes what the machine has before it collects garbage; in a small container it does not. */
const nodeOptions = ["--max-semi-space-size=16", "--max-old-space-size=192"];

const replicas = {
  boxoffice: 1,
  checkin: 1,
  gateway: 1,
  "layout-and-render": 1,
  "offline-sales": 1,
  shredder: 1,
  voucher: 1,
};

/** Makes batches and renders one on one process for each part, with PostgreSQL and Kafka; nothing is left of them. */
export async function measureParts({ tickets }: { readonly tickets: number }): Promise<Parts> {
  const directory = await mkdtemp(join(tmpdir(), "tessera-bench-"));
  const undo: (() => Promise<unknown>)[] = [() => rm(directory, { recursive: true, force: true })];
  try {
    const postgres = await startEmbeddedPostgres({ directory });
    undo.push(() => postgres.stop());
    const kafka = await startKafka({ directory: join(directory, "kafka") });
    undo.push(() => kafka.stop());
    const engines = { BUS: "kafka", KAFKA_BROKERS: kafka.brokers, FILES_DIR: join(directory, "files") };
    await migrateAll({ url: postgres.url, names: ["all"] });
    await applyCatalogue(engines);
    const cluster = await startCluster({
      firstPort,
      replicas,
      nodeOptions,
      environment: {
        ...engines,
        DATABASE_URL: postgres.url,
        BASE_URL: `http://127.0.0.1:${firstPort}`,
        OPERATOR_KEY: operatorKey,
        LOG_LEVEL: "warn",
      },
      onLine: (name, line) => process.stderr.write(`${name} ${line}\n`),
    });
    undo.push(() => cluster.stop());
    const baseUrl = `http://127.0.0.1:${firstPort}`;
    await sendRecords(baseUrl, batchGround);
    const made = [];
    for (let round = 0; round < 4; round += 1) made.push(await makeBatch(baseUrl, tickets));
    const quickest = made.reduce((one, other) => (one.ms < other.ms ? one : other));
    const rendered = await renderBatch(baseUrl, quickest.id);
    const memory = await Promise.all(
      cluster.processes.map(async ({ plan, pid }) => ({
        name: plan.service,
        megabytes: (await usageOf(pid() ?? 0)).peakMegabytes,
      })),
    );
    return { createdMs: quickest.ms, renderedMs: rendered.ms, memory };
  } finally {
    for (const step of undo.reverse()) await step();
  }
}
