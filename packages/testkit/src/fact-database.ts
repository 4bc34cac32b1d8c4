import { createTestDatabase, type TestDatabase } from "./database.ts";
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
