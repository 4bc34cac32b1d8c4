import { loadServices } from "@tessera/cli/services";
import { createTestDatabase, type TestDatabase } from "@tessera/testkit/database";

/** Makes a database with the schemas of all services: a copy, because migrating takes ten times as long. */
export async function createPlatformDatabase(): Promise<TestDatabase> {
  const definitions = await loadServices(["all"]);
  return createTestDatabase(definitions.map(({ schema, migrations }) => ({ schema, migrations })));
}
