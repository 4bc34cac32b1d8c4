import { createLog } from "@tessera/kit/log";
import { migrate } from "@tessera/kit/pg/migrate";
import { provision, roleOf } from "@tessera/kit/pg/provision";
import { fault } from "./faults.ts";
import { databaseUrlOf, readOptions } from "./options.ts";
import { loadServices, requireAllAlone, services } from "./services.ts";

const usage = "tessera migrate all | NAME…  [OPTIONS]\n\nCreates missing schemas and roles, and applies migrations.";

const options = {
  "database-url": {
    type: "string",
    value: "URL",
    help: "an administrator's URL of the database (default DATABASE_URL)",
  },
} as const;

/** Migrates the schemas of the named services. */
export async function migrateServices(args: string[]): Promise<void> {
  const read = readOptions(usage, options, args);
  if (read === undefined) return;
  const url = read.values["database-url"] ?? databaseUrlOf(process.env);
  if (url === undefined) throw fault("no_database_url", "set DATABASE_URL or pass --database-url");
  if (read.names.length === 0)
    throw fault("no_services", `name what to migrate: all, or some of ${Object.keys(services).join(", ")}`);
  requireAllAlone(read.names);
  const count = await migrateAll({ url, names: read.names });
  process.stdout.write(count === 0 ? "Everything is up to date.\n" : `${count} migrations applied.\n`);
}

/** Provisions and migrates; returns how many migrations it applied. */
export async function migrateAll({ url, names }: { url: string; names: readonly string[] }): Promise<number> {
  const log = createLog({ service: "migrate", destination: { write: () => {} } });
  const definitions = await loadServices(names);
  await provision({ url, schemas: definitions.map((definition) => definition.schema) });
  const counts = await Promise.all(
    definitions.map(({ schema, migrations }) => migrate({ url, schema, role: roleOf(schema), migrations, log })),
  );
  return counts.reduce((sum, count) => sum + count, 0);
}
