import { statfsSync } from "node:fs";
import { join } from "node:path";
import { migrateAll } from "@tessera/cli/migrate";
import type { Progress } from "@tessera/cli/progress";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { startEmbeddedPostgres } from "@tessera/embedded-postgres/start";
import { kafkaBus } from "@tessera/engines/kafka";
import type { Bus } from "@tessera/kit/bus/bus";
import type { Log } from "@tessera/kit/log";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { startKafka } from "@tessera/testkit/engines/kafka-broker";
import { makeScratchFolder } from "./scratch-folder.ts";

/** New engines of a benchmark, and connections to them. */
export interface Engines {
  /** The settings by which a service finds them. */
  readonly settings: Readonly<Record<string, string>>;
  readonly url: string;
  readonly dataDirectory: string;
  readonly bus: Bus;
  /** Reads the schema of checkin. */
  readonly checkin: Db;
}

const topicPrefix = "tessera.";

/** Runs the work on a new PostgreSQL and a new Kafka, which store everything in a new folder below the one given. */
export async function withEngines<T>(
  { folder: parent, log, progress }: { folder: string; log: Log; progress: Progress },
  work: (engines: Engines) => Promise<T>,
): Promise<T> {
  const folder = await makeScratchFolder(parent);
  const directory = folder.path;
  const undo: (() => Promise<unknown>)[] = [() => folder.remove()];
  try {
    progress.update("starting PostgreSQL and Kafka…");
    const postgres = await startEmbeddedPostgres({ directory, settings: { track_commit_timestamp: "on" } });
    undo.push(() => postgres.stop());
    const kafka = await startKafka({ directory: join(directory, "kafka") });
    undo.push(() => kafka.stop());
    const { url, dataDirectory } = postgres;
    const settings = {
      BUS: "kafka",
      KAFKA_BROKERS: kafka.brokers,
      KAFKA_TOPIC_PREFIX: topicPrefix,
      DATABASE_URL: url,
      // Without scans it is never called.
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
    return await work({ settings, url, dataDirectory, bus, checkin });
  } finally {
    for (const step of undo.reverse()) await step();
  }
}

/** The room for two minutes of facts, their logs and topics. */
const roomBytes = 4 * 1024 ** 3;

const inMemory = 0x01_02_19_94;

/** A folder in memory with enough room, if the system has one. */
export function memoryFolder(): string | undefined {
  const folder = "/dev/shm";
  try {
    const { type, bavail, bsize } = statfsSync(folder);
    return type === inMemory && bavail * bsize >= roomBytes ? folder : undefined;
  } catch {
    return undefined;
  }
}
