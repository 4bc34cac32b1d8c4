import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { afterEach, beforeEach } from "vitest";
import type { TestDatabase } from "./database.ts";
import { createFactDatabase } from "./fact-database.ts";
import { effectsByKey, numberedTopic, type Pipeline, type PipelineOptions, startPipeline } from "./fact-pipeline.ts";

export const first = numberedTopic("owner.first.v1");
export const second = numberedTopic("owner.second.v1");

/** A database with an owner of topics and their reader, and what flows between them. */
export interface OwnerAndReader {
  readonly url: string;
  readonly owner: Db;
  readonly reader: Db;
  /** Stopped after the test, the last one first. */
  readonly running: { stop(): Promise<void> }[];
  /** Starts a pipeline: of the first topic, unless told otherwise. */
  start(options?: Partial<PipelineOptions>): Promise<Pipeline>;
  /** Publishes numbers to the first topic, in one transaction. */
  publish(numbers: readonly number[], key?: string): Promise<void>;
  effects(): ReturnType<typeof effectsByKey>;
  countEffects(): Promise<number>;
}

/** Makes a database for each test of a file. */
export function ownerAndReader(): OwnerAndReader {
  let database: TestDatabase;
  let owner: Db;
  let reader: Db;
  const running: { stop(): Promise<void> }[] = [];

  beforeEach(async () => {
    database = await createFactDatabase();
    owner = database.open("owner");
    reader = database.open("reader");
  });

  afterEach(async () => {
    for (const it of running.splice(0).reverse()) await it.stop();
    await database.drop();
  });

  return {
    get url() {
      return database.url;
    },
    get owner() {
      return owner;
    },
    get reader() {
      return reader;
    },
    running,
    async start(options = {}) {
      const pipeline = await startPipeline({ owner, reader, topics: [first], ...options });
      running.push(pipeline);
      return pipeline;
    },
    publish: (numbers, key = "k") =>
      owner.transaction((tx) =>
        tx.publish(
          first,
          numbers.map((number) => ({ key, number })),
        ),
      ),
    effects: () => effectsByKey(reader),
    countEffects: async () => (await reader.one<{ count: number }>(sql`select count(*) as count from effect`)).count,
  };
}
