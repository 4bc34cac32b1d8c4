import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { createTestDatabase, type TestDatabase } from "./database.ts";
import { createEffects } from "./fact-pipeline.ts";

/** Makes a database with the schemas `owner`, which publishes, and `reader`, which notes in `effect` what it consumed. */
export async function createFactDatabase(): Promise<TestDatabase> {
  const migrations = pathToFileURL(`${await mkdtemp(join(tmpdir(), "no-migrations-"))}/`);
  const database = await createTestDatabase([
    { schema: "owner", migrations },
    { schema: "reader", migrations },
  ]);
  await createEffects(database.open("reader"));
  return database;
}
