import type { Db } from "@tessera/kit/pg/database";
import { afterAll } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { emptyTables, restartSequences } from "./empty-tables.ts";
import { createEffects } from "./fact-pipeline.ts";

/** Makes a database with the schemas `owner`, which publishes, and `reader`, which notes consumed facts in `effect`. */
export async function createFactDatabase(): Promise<TestDatabase> {
  // A folder without .sql files: the schema has only kit's tables.
  const migrations = new URL("./", import.meta.url);
  const database = await createTestDatabase([
    { schema: "owner", migrations },
    { schema: "reader", migrations },
  ]);
  await createEffects(database.open("reader"));
  return database;
}

/** The database of a file of tests, as one test finds it. */
export interface EmptiedDatabase extends Pick<TestDatabase, "url" | "open"> {
  /** Closes the pools of the test. */
  close(): Promise<void>;
}

/**
 * Makes such a database for a file of tests, to be emptied before each of them: most tests take less time than another
 * database. A test that changes tables changes them back.
 */
export async function factDatabaseOfFile(
  addTables: (database: TestDatabase) => Promise<void> = async () => {},
): Promise<() => Promise<EmptiedDatabase>> {
  const database = await createFactDatabase();
  afterAll(() => database.drop());
  await addTables(database);
  const schemas = [database.open("owner"), database.open("reader")];
  return async () => {
    for (const db of schemas) {
      await emptyTables(db);
      await restartSequences(db);
    }
    const opened: Db[] = [];
    return {
      url: database.url,
      open(schema, options) {
        const db = database.open(schema, options);
        opened.push(db);
        return db;
      },
      close: async () => void (await Promise.all(opened.map((db) => db.close()))),
    };
  };
}
