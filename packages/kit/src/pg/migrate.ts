import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { fault } from "../faults.ts";
import type { Log } from "../log.ts";
import { breaksConnection, toFault } from "./failure.ts";
import { declareLock } from "./locks.ts";

export interface MigrationOptions {
  readonly url: string;
  readonly schema: string;
  readonly role?: string | undefined;
  /** The service's own folder of numbered files; kit's come before them. */
  readonly migrations: URL;
  readonly log: Log;
}

interface Migration {
  readonly scope: "kit" | "own";
  readonly revision: number;
  readonly name: string;
  readonly text: string;
  readonly checksum: string;
  readonly transactional: boolean;
  readonly breaking: boolean;
}

const migrateLock = declareLock("tessera migrate");

const kitMigrations = new URL("../../migrations/", import.meta.url);

/**
 * Brings one schema up to the newest revision and returns how many migrations that took.
 *
 * Numbered files only go forward. Each runs in a transaction with its row in `migration`. One headed
 * `--! no-transaction` runs outside any, its statements separated by lines `--! next`; killed halfway, it runs again
 * from its start, so it must be repeatable. One headed `--! breaking` makes programs that do not know it refuse to run.
 * Concurrent migrators take turns.
 */
export async function migrate(options: MigrationOptions): Promise<number> {
  const known = await knownMigrations(options.migrations);
  return withClient(options, async (client) => {
    await takeTurn(client, options);
    // A table in use makes us give up rather than have all its users queue up behind us.
    await client.query("set lock_timeout = '3s'");
    await client.query(`
      create table if not exists migration (
        scope text not null,
        revision integer not null,
        name text not null,
        checksum text not null,
        breaking boolean not null,
        applied_at timestamptz not null default now(),
        primary key (scope, revision)
      )`);
    const applied = await readApplied(client);
    refuseUnknown(known, applied, options.schema);
    let count = 0;
    for (const migration of known) {
      if (applied.has(`${migration.scope} ${migration.revision}`)) continue;
      await apply(client, migration).catch((error: unknown) => {
        throw failed(migration, options.schema, error);
      });
      options.log.info("schema migrated", {
        schema: options.schema,
        scope: migration.scope,
        migration: migration.name,
      });
      count += 1;
    }
    return count;
  });
}

/** Runs work on a connection that sees the schema first, and `public` for the extensions. */
async function withClient<T>(
  { url, schema, role }: MigrationOptions,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: url,
    application_name: `tessera-migrate-${schema}`,
    connectionTimeoutMillis: 5000,
  });
  // The statement under way fails, too, and tells.
  client.on("error", () => {});
  try {
    await client.connect();
    if (!(await enterSchema(client, { schema, role }))) {
      throw fault(
        "schema_missing",
        `schema ${schema} is not there${role === undefined ? "" : `, or role ${role} is not, or may not use it`}; run \`tessera migrate ${schema}\` with an administrator's URL`,
      );
    }
    return await work(client);
  } catch (error) {
    throw toFault(error);
  } finally {
    await client.end();
  }
}

async function enterSchema(
  client: pg.Client,
  { schema, role }: { schema: string; role: string | undefined },
): Promise<boolean> {
  try {
    if (role !== undefined) await client.query(`set role ${pg.escapeIdentifier(role)}`);
  } catch (error) {
    if (breaksConnection(error)) throw error;
    return false;
  }
  await client.query(`set search_path = ${pg.escapeIdentifier(schema)}, public`);
  const { rows } = await client.query<{ schema: string | null }>("select current_schema() as schema");
  return rows[0]?.schema === schema;
}

/** Waits by asking again: a statement that waits would itself be waited for by an index that another migrator builds. */
async function takeTurn(client: pg.Client, { schema, log }: MigrationOptions): Promise<void> {
  for (let asked = 1; ; asked += 1) {
    const { rows } = await client.query<{ ours: boolean }>(
      "select pg_try_advisory_lock(hashtextextended($1, 0)) as ours",
      [migrateLock(schema).name],
    );
    if (rows[0]?.ours === true) return;
    if (asked === 20) log.info("waiting for another migrator of the same schema", { schema });
    await sleep(50);
  }
}

async function apply(client: pg.Client, migration: Migration): Promise<void> {
  const record = () =>
    client.query("insert into migration (scope, revision, name, checksum, breaking) values ($1, $2, $3, $4, $5)", [
      migration.scope,
      migration.revision,
      migration.name,
      migration.checksum,
      migration.breaking,
    ]);
  if (!migration.transactional) {
    for (const statement of migration.text.split(/^--! next$/m)) await client.query(statement);
    await record();
    return;
  }
  await client.query("begin");
  try {
    await record();
    await client.query(migration.text);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback").catch(() => {});
    throw error;
  }
}

function failed({ name, transactional }: Migration, schema: string, error: unknown): unknown {
  if (breaksConnection(error)) return error;
  const remains = transactional ? "nothing of it remains" : "what it did before the failure remains";
  return fault("migration_failed", `migration ${name} of schema ${schema} failed, ${remains}: ${reason(error)}`, {
    cause: error,
  });
}

/** What to tell of a failure. Where it is about data, the server's message quotes them, and they may be personal. */
function reason(error: unknown): string {
  if (!(error instanceof pg.DatabaseError)) return String(error);
  const { code = "", message, table, constraint } = error;
  if (!/^2[23]/.test(code)) return `${message} (${code})`;
  return [code, table && `table ${table}`, constraint && `constraint ${constraint}`].filter(Boolean).join(", ");
}

interface Applied {
  readonly checksum: string;
  readonly name: string;
  readonly breaking: boolean;
}

async function readApplied(client: pg.Client): Promise<Map<string, Applied>> {
  const { rows } = await client.query<Applied & { scope: string; revision: number }>(
    "select scope, revision, name, checksum, breaking from migration",
  );
  return new Map(rows.map((row) => [`${row.scope} ${row.revision}`, row]));
}

function refuseUnknown(known: readonly Migration[], applied: ReadonlyMap<string, Applied>, schema: string): void {
  const ours = new Map(known.map((migration) => [`${migration.scope} ${migration.revision}`, migration]));
  for (const [key, row] of applied) {
    const migration = ours.get(key);
    if (migration === undefined && row.breaking) {
      throw fault(
        "schema_too_new",
        `schema ${schema} has ${row.name}, which this version cannot run with; run a newer version`,
      );
    }
    if (migration !== undefined && migration.checksum !== row.checksum) {
      throw fault(
        "migration_changed",
        `migration ${row.name} of schema ${schema} was changed after it was applied; restore the file and add a new one`,
      );
    }
  }
}

async function knownMigrations(own: URL): Promise<Migration[]> {
  return [...(await readMigrations("kit", kitMigrations)), ...(await readMigrations("own", own))];
}

async function readMigrations(scope: Migration["scope"], folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  const revisions = names.map((name) => /^(\d{4})_[a-z0-9_]+\.sql$/.exec(name)?.[1]);
  const wrong = names.find((_, index) => revisions[index] === undefined || revisions.indexOf(revisions[index]) < index);
  if (wrong !== undefined) {
    throw new Error(`migration ${wrong} must be named like 0001_what_it_does.sql, with a number of its own`);
  }
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(encodeURIComponent(name), folder), "utf8");
      return {
        scope,
        revision: Number.parseInt(name, 10),
        name,
        text,
        checksum: createHash("sha256").update(text).digest("hex"),
        transactional: !/^--! no-transaction$/m.test(text),
        breaking: /^--! breaking$/m.test(text),
      };
    }),
  );
}

/** Refuses to run on a schema that lacks a revision this program was written for, and says what to do. */
export async function requireMigrated(options: MigrationOptions): Promise<void> {
  const { schema } = options;
  const known = await knownMigrations(options.migrations);
  await withClient(options, async (client) => {
    const { rows } = await client.query<{ present: boolean }>("select to_regclass($1) is not null as present", [
      `${pg.escapeIdentifier(schema)}.migration`,
    ]);
    const applied = rows[0]?.present === true ? await readApplied(client) : new Map<string, Applied>();
    refuseUnknown(known, applied, schema);
    const missing = known.filter((migration) => !applied.has(`${migration.scope} ${migration.revision}`));
    if (missing.length > 0) {
      const names = missing.map((migration) => migration.name).join(", ");
      throw fault("schema_too_old", `schema ${schema} lacks ${names}; run \`tessera migrate ${schema}\``);
    }
  });
}
