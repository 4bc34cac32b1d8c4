import { migrate } from "@tessera/kit/pg/migrate";
import { provision, roleOf } from "@tessera/kit/pg/provision";
import { createLog } from "@tessera/kit/telemetry/log";
import { onDatabase } from "./command/on-database.ts";
import { readDatabaseUrl, readOptions } from "./command/options.ts";
import { fault } from "./faults.ts";
import { loadServices, requireServices, services } from "./services.ts";

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
  if (read.names.length === 0)
    throw fault("no_services", `name what to migrate: all, or some of ${Object.keys(services).join(", ")}`);
  requireServices(read.names);
  const url = readDatabaseUrl(read.values["database-url"], process.env);
  if (url === undefined) throw fault("no_database_url", "set DATABASE_URL or pass --database-url");
  const count = await migrateAll({ url, names: read.names });
  process.stdout.write(count === 0 ? "Everything is up to date.\n" : `${count} migrations applied.\n`);
}

const administratorNeeded =
  "name an administrator of that database, who may create roles, schemas and the extension pg_trgm";

/** Provisions and migrates; returns how many migrations it applied. */
export async function migrateAll({ url, names }: { url: string; names: readonly string[] }): Promise<number> {
  const log = createLog({ service: "migrate", destination: { write: () => {} } });
  const definitions = await loadServices(names);
  const apply = async () => {
    await provision({ url, schemas: definitions.map((definition) => definition.schema) });
    return Promise.all(
      definitions.map(({ schema, migrations }) => migrate({ url, schema, role: roleOf(schema), migrations, log })),
    );
  };
  const counts = await onDatabase(url, apply, { mend: administratorNeeded });
  return counts.reduce((sum, count) => sum + count, 0);
}
