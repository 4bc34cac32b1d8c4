import { type DatabaseOptions, type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { createLog } from "@tessera/kit/telemetry/log";
import { topic } from "@tessera/protos/topic";
import { afterAll, afterEach, beforeAll } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database.ts";

/** A database with the schemas `alpha` and `beta`, which have only kit's tables. */
export interface TwoSchemas {
  readonly url: string;
  /** Sees all schemas. */
  readonly admin: Db;
  /** Opens a pool for one test: of `alpha`, unless told otherwise. */
  open(options?: Partial<DatabaseOptions>): Db;
}

/** Makes a database for the tests of a file. */
export function twoSchemas(): TwoSchemas {
  const log = createLog({ service: "test", destination: { write: () => {} } });
  let database: TestDatabase;
  let admin: Db;
  const opened: Db[] = [];

  beforeAll(async () => {
    // A folder without .sql files.
    const migrations = new URL("./", import.meta.url);
    database = await createTestDatabase([
      { schema: "alpha", migrations },
      { schema: "beta", migrations },
    ]);
    admin = openDatabase({ url: database.url, schema: "public", applicationName: "admin", log });
  });

  afterAll(async () => {
    await admin.close();
    await database.drop();
  });

  // A pool closes when every client has come back: a leaked one makes this time out.
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((db) => db.close()));
  });

  return {
    get url() {
      return database.url;
    },
    get admin() {
      return admin;
    },
    open(options = {}) {
      const db = openDatabase({
        url: database.url,
        schema: "alpha",
        role: roleOf("alpha"),
        applicationName: "alpha",
        log,
        ...options,
      });
      opened.push(db);
      return db;
    },
  };
}

/** A topic of `alpha`. */
export const named = topic<{ key: string; value: number }>(
  "alpha.named.v1",
  {
    encode: (fact) => ({ finish: () => Buffer.from(JSON.stringify(fact)) }),
    decode: (bytes) => JSON.parse(Buffer.from(bytes).toString()) as { key: string; value: number },
  },
  { owner: "alpha", partitions: 1, retention: { kind: "compacted" }, personalData: {}, key: (fact) => fact.key },
);
