import { resolve } from "node:path";
import { type Db, openDatabase } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import type { Sql } from "@tessera/kit/pg/sql";
import { createLog } from "@tessera/kit/telemetry/log";
import { onDatabase } from "../command/on-database.ts";
import { readDatabaseUrl } from "../command/options.ts";
import { fault } from "../faults.ts";
import { databaseElsewhere, findLocalServer } from "../local/local-database.ts";
import { findLocalPlatform } from "../local/local-platform.ts";
import { loadServices } from "../services.ts";

/** The options that name the database. */
export const schemaOptions = {
  "database-url": {
    type: "string",
    value: "URL",
    help: "an administrator's URL of the database (default DATABASE_URL)",
  },
  data: {
    type: "string",
    value: "DIR",
    default: ".tessera",
    help: "without a URL: the data folder of a running `tessera serve all` (default .tessera)",
  },
} as const;

export interface OpenService {
  readonly name: string;
  readonly consumes: readonly string[];
  readonly shown: Readonly<Record<string, Sql>>;
  readonly db: Db;
}

/** Opens the schemas of services, runs the work, and closes them. */
export async function withServices<T>(
  values: { readonly "database-url": string | undefined; readonly data: string },
  names: readonly string[],
  work: (opened: readonly OpenService[]) => Promise<T>,
): Promise<T> {
  const definitions = await loadServices(names);
  const url = readDatabaseUrl(values["database-url"], process.env) ?? (await requireLocalDatabase(values.data));
  const log = createLog({ service: "topics", destination: { write: () => {} } });
  const opened = definitions.map(({ name, schema, consumes, shown = {} }) => ({
    name,
    consumes,
    shown,
    db: openDatabase({ url, schema, role: roleOf(schema), applicationName: "tessera-topics", log, maxConnections: 1 }),
  }));
  try {
    return await onDatabase(url, () => work(opened));
  } finally {
    await Promise.all(opened.map(({ db }) => db.close()));
  }
}

/** The database that `tessera serve all` runs. */
async function requireLocalDatabase(data: string): Promise<string> {
  const directory = resolve(data);
  const server = await findLocalServer(directory);
  if (server.kind === "running") return server.url;
  if (server.kind === "stopped")
    throw fault("no_database_url", `${server.reason}; \`tessera doctor --data ${data}\` says why it may have ended`);
  throw fault(
    "no_database_url",
    (await findLocalPlatform(directory)) !== undefined
      ? databaseElsewhere(directory)
      : `set DATABASE_URL, pass --database-url, or name the data folder of a running platform with --data; none runs in ${directory}`,
  );
}
