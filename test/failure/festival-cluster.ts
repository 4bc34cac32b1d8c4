import { randomUUID } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { applyCatalogue } from "@tessera/cli/topics/catalogue";
import { startCluster } from "@tessera/dev/cluster/start-cluster";
import type { ClusterProcess } from "@tessera/dev/cluster/start-process";
import type { Db } from "@tessera/kit/pg/database";
import type { Dice } from "@tessera/testkit/dice";
import { kafkaOfThisRun } from "@tessera/testkit/engines/kafka-of-this-run";
import { redisOfThisRun } from "@tessera/testkit/engines/redis-of-this-run";
import { findFirstPort } from "../e2e/find-ports.ts";
import { createPlatformDatabase } from "../e2e/platform-database.ts";
import { operatorKey } from "../e2e/sample-records.ts";
import { keepLedger, openAsAdministrator } from "./fact-ledger.ts";
import { type Edition, type Festival, type FestivalSize, planFestival } from "./festival.ts";
import { importUntilAnswered } from "./import-until-answered.ts";
import { type Load, type LoadOptions, startLoad } from "./load.ts";
import { describeErrors, parseLog } from "./platform-process.ts";
import type { Attempt } from "./scan-history.ts";
import { report } from "./seeded.ts";
import { type FestivalEvidence, verifyFestival } from "./verify-festival.ts";

/** A festival on a platform of one process per part, two gateways and two of check-in, with a database of its own. */
export interface FestivalCluster {
  readonly baseUrls: readonly [string, string];
  readonly databaseUrl: string;
  readonly db: Db;
  readonly festival: Festival;
  /** All scans so far; a test adds the scans that it makes beside a load. */
  readonly attempts: Attempt[];
  /** The prefix of all topics and groups. */
  readonly prefix: string;
  readonly processes: readonly ClusterProcess[];
  /** By name, for instance checkin-2. */
  process(name: string): ClusterProcess;
  startLoad(dice: Dice, options: Omit<LoadOptions, "baseUrls" | "festival" | "dice">): Load;
  /** Ends loads that a failed test has left running, and returns the log of that time. */
  endLoads(): Promise<void>;
  /** Creates missing topics. */
  createTopics(): Promise<void>;
  /** Compares all answers with everything that is stored and shown; returns each contradiction. */
  verify(edition: Edition, options?: Pick<FestivalEvidence, "poisoned" | "toldAgain">): Promise<string[]>;
  /** Errors that were logged since the last call; `outage`: without those about something being down. */
  loggedErrors(options?: { outage?: boolean }): string[];
  /** Stops all processes; returns those that had to be killed. */
  stopInOrder(): Promise<string[]>;
  /** Kills what still runs, because nothing is asserted about it, and deletes the data. */
  remove(): Promise<void>;
}

export interface FestivalClusterOptions {
  /** A database with all schemas. Undefined: a new one on the server of this test run. */
  readonly databaseUrl?: string;
  /** Gets every line of the logs, too. */
  readonly onLine?: (line: string) => void;
  /** Undefined: those of this test run. */
  readonly kafkaBrokers?: string;
  readonly redisUrl?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** What a process has beside it, by its service and its own name. */
  readonly environmentOf?: (service: string, process: string) => Readonly<Record<string, string>>;
  /** Undefined: it is found. */
  readonly firstPort?: number;
  readonly size?: FestivalSize;
  /** Records that are imported first, as lines. */
  readonly records?: string;
}

/** Starts the processes on the engines, and imports the first records. */
export async function startFestivalCluster(options: FestivalClusterOptions = {}): Promise<FestivalCluster> {
  const { size = { tickets: 300, orders: 400 }, records = "" } = options;
  const undo: (() => Promise<unknown>)[] = [];
  const remove = async () => {
    for (const step of undo.splice(0).reverse()) await step();
  };
  try {
    const databaseUrl = options.databaseUrl ?? (await createDatabase(undo));
    const db = openAsAdministrator(databaseUrl);
    undo.push(() => db.close());
    await keepLedger(db);
    const files = await mkdtemp(join(tmpdir(), "tessera-failure-"));
    undo.push(() => rm(files, { recursive: true, force: true }));

    const name = `failure-${randomUUID()}`;
    const engines = {
      BUS: "kafka",
      KAFKA_BROKERS: options.kafkaBrokers ?? kafkaOfThisRun(),
      KAFKA_TOPIC_PREFIX: `${name}.`,
      CACHE: "redis",
      REDIS_URL: options.redisUrl ?? redisOfThisRun(),
      REDIS_PREFIX: `${name}:`,
      FILES_DIR: files,
    };
    const createTopics = async () => void (await applyCatalogue(engines));
    await createTopics();
    const logged: string[] = [];
    const stopped = new Set<string>();
    const cluster = await startCluster({
      firstPort: options.firstPort ?? (await findFirstPort()),
      environment: {
        ...engines,
        DATABASE_URL: databaseUrl,
        BASE_URL: "http://127.0.0.1",
        OPERATOR_KEY: operatorKey,
        ...options.environment,
      },
      ...(options.environmentOf === undefined ? {} : { environmentOf: options.environmentOf }),
      onLine(process, line) {
        logged.push(line);
        if (line.includes('"service stopped"')) stopped.add(process);
        options.onLine?.(line);
      },
    });
    undo.push(() => Promise.all(cluster.processes.map((process) => process.kill())));
    const [one, other] = cluster.baseUrls;
    if (one === undefined || other === undefined) throw new Error("a cluster has two gateways");

    const festival = planFestival(size);
    const attempts: Attempt[] = [];
    const loads = new Set<Load>();
    await importUntilAnswered({ baseUrl: one, body: `${festival.groundwork}\n${records}` });
    return {
      baseUrls: [one, other],
      databaseUrl,
      db,
      festival,
      attempts,
      prefix: `${name}.`,
      processes: cluster.processes,
      process(wanted) {
        const found = cluster.processes.find(({ plan }) => plan.name === wanted);
        if (found === undefined) throw new Error(`there is no process ${wanted}`);
        return found;
      },
      startLoad(dice, how) {
        const load = startLoad({ baseUrls: [one, other], festival, dice, ...how });
        loads.add(load);
        return {
          ...load,
          async finish() {
            loads.delete(load);
            const finished = await load.finish();
            attempts.push(...finished.attempts);
            return finished;
          },
        };
      },
      async endLoads() {
        for (const load of loads) {
          await load.finish().catch(() => {});
          attempts.push(...load.gates.attempts);
        }
        loads.clear();
        const errors = describeErrors(parseLog(logged.splice(0)));
        if (errors.length > 0) report({ errors });
      },
      createTopics,
      verify: (edition, how = {}) => verifyFestival({ baseUrl: one, db, festival, edition, attempts, ...how }),
      loggedErrors: (how) => describeErrors(parseLog(logged.splice(0)), how),
      async stopInOrder() {
        await cluster.stop();
        return cluster.processes.map(({ plan }) => plan.name).filter((name) => !stopped.has(name));
      },
      remove,
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function createDatabase(undo: (() => Promise<unknown>)[]): Promise<string> {
  const database = await createPlatformDatabase();
  undo.push(() => database.drop());
  return database.url;
}
