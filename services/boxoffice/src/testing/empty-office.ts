import { createHash } from "node:crypto";
import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";
import { emptyTables } from "@tessera/testkit/empty-tables";
import { afterAll, afterEach, beforeAll, beforeEach, expect } from "vitest";
import { type BoxOffice, boxOfficeOn } from "./box-office.ts";
import type { PublishedFact } from "./facts.ts";
import { record, sample, type TestRecord } from "./records.ts";

/** A boxoffice whose database is empty when a test begins. */
export interface EmptyOffice extends Pick<BoxOffice, "apply" | "applyApart"> {
  readonly db: Db;
  /** How many rows a table has. */
  count(table: string): Promise<number>;
}

export function emptyOffice(): EmptyOffice {
  let database: TestDatabase;
  let db: Db;
  let office: BoxOffice;

  beforeAll(async () => {
    database = await createTestDatabase([
      { schema: "boxoffice", migrations: new URL("../../migrations/", import.meta.url) },
    ]);
    db = database.open("boxoffice");
    office = boxOfficeOn(db);
  });

  beforeEach(async () => {
    await emptyTables(db);
  });

  // Failed statements show only here: their records are then stored one by one, and no caller notices.
  afterEach(() => expect(office.logged).toEqual([]));

  afterAll(() => database.drop());

  return {
    get db() {
      return db;
    },
    apply: (...records) => office.apply(...records),
    applyApart: (...records) => office.applyApart(...records),
    count: async (table) =>
      (await db.one<{ count: number }>(sql`select count(*) as count from ${identifier(table)}`)).count,
  };
}

/** An entity of every kind that others refer to. */
export const surroundings = [
  sample.organizer(),
  sample.salesChannel(),
  sample.gate(),
  sample.event(),
  sample.taxRule(),
  sample.category(),
  sample.item(),
];

export const hashOf = (token: string) => createHash("sha256").update(token).digest();

/** A record that removes the entity of a key. */
export const deleted = (kind: string, key: object): TestRecord => record(kind, key, { deleted: true });

/** The id of the sampled API key in facts. */
export const apiKeyId = hashOf("key-in-clear-text").toString("hex");

export function revisionOf(fact: PublishedFact | undefined): number {
  return Number(fact?.value?.["revision"]);
}
