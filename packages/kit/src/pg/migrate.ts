import { hash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { fault } from "../faults.ts";
import type { Log } from "../telemetry/log.ts";
import { inTransaction, withClient } from "./administer.ts";
import { breaksConnection } from "./failure.ts";
import { declareLock } from "./locks.ts";

export interface MigrationOptions {
  readonly url: string;
  readonly schema: string;
  readonly role?: string | undefined;
  /** The service's own folder of numbered files; kit's run before them. */
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

/** A lock on a busy table fails soon, because all its users would queue behind this one. */
const briefly = "set lock_timeout = '3s'";

const migrateLock = declareLock("tessera migrate");

const kitMigrations = new URL("../../migrations/", import.meta.url);

/**
 * Migrates one schema to the newest revision, and returns the number of migrations that it ran.
 *
 * Migrations only go forward. Each runs in a transaction with its row in `migration`. A file with `--! no-transaction`
 * runs outside of a transaction, and lines `--! next` separate its statements. After a crash it runs again from its
 * start, so it must be repeatable. After a file with `--! breaking`, programs that do not know it refuse to run.
 * Concurrent migrators take turns.
 */
export async function migrate(options: MigrationOptions): Promise<number> {
  const known = await knownMigrations(options.migrations);
  return inSchema(options, async (client) => {
    await takeTurn(client, options);
    await client.query(briefly);
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
      if (applied.has(keyOf(migration))) continue;
      await apply(client, migration).catch((error: unknown) => {
        throw failed(migration, options.schema, error);
      });
      const { scope, name } = migration;
      options.log.info("schema migrated", { schema: options.schema, scope, migration: name });
      count += 1;
    }
    return count;
  });
}

/** Runs work on a connection with the schema first in its path, and `public` for the extensions. */
function inSchema<T>({ url, schema, role }: MigrationOptions, work: (client: pg.Client) => Promise<T>): Promise<T> {
  return withClient({ url, purpose: `migrate-${schema}` }, async (client) => {
    if (await enterSchema(client, { schema, role })) return work(client);
    const missing = role === undefined ? "" : `, or role ${role} is not, or may not use it`;
    throw fault(
      "schema_missing",
      `schema ${schema} is not there${missing}; run \`tessera migrate all\` with an administrator's URL`,
    );
  });
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

/** Waits by polling. A waiting statement would block another migrator that builds an index: that waits for all running statements. */
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
  const { scope, revision, name, checksum, breaking, text } = migration;
  const record = () =>
    client.query("insert into migration (scope, revision, name, checksum, breaking) values ($1, $2, $3, $4, $5)", [
      scope,
      revision,
      name,
      checksum,
      breaking,
    ]);
  if (migration.transactional) {
    return inTransaction(client, async () => {
      await record();
      await client.query(text);
    });
  }
  // What runs without a transaction waits for others and blocks none: a build may wait for the longest of them.
  await client.query("set lock_timeout = '10min'");
  for (const statement of text.split(/^--! next$/m)) await client.query(statement);
  await client.query(briefly);
  await record();
}

function failed({ name, transactional }: Migration, schema: string, error: unknown): unknown {
  if (breaksConnection(error)) return error;
  const remains = transactional ? "nothing of it remains" : "what it did before the failure remains";
  return fault("migration_failed", `migration ${name} of schema ${schema} failed, ${remains}: ${reason(error)}`, {
    cause: error,
  });
}

/** The reason of a failure. In errors about data the server quotes the data, which may be personal: they are left out. */
function reason(error: unknown): string {
  if (!(error instanceof pg.DatabaseError)) return String(error);
  const { code = "", message, table, constraint } = error;
  if (!/^2[23]/.test(code)) return `${message} (${code})`;
  return [code, table && `table ${table}`, constraint && `constraint ${constraint}`].filter(Boolean).join(", ");
}

type Applied = Pick<Migration, "scope" | "revision" | "name" | "checksum" | "breaking">;

const keyOf = ({ scope, revision }: Pick<Migration, "scope" | "revision">) => `${scope} ${revision}`;

async function readApplied(client: pg.Client): Promise<Map<string, Applied>> {
  const { rows } = await client.query<Applied>("select scope, revision, name, checksum, breaking from migration");
  return new Map(rows.map((row) => [keyOf(row), row]));
}

function refuseUnknown(known: readonly Migration[], applied: ReadonlyMap<string, Applied>, schema: string): void {
  const ours = new Map(known.map((migration) => [keyOf(migration), migration]));
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
        `migration ${row.name} of schema ${schema} was changed after it was applied; go back to the version that ran before, or, as a developer, restore the file and add a new one`,
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
        checksum: hash("sha256", text),
        transactional: !/^--! no-transaction$/m.test(text),
        breaking: /^--! breaking$/m.test(text),
      };
    }),
  );
}

/** Throws when a schema lacks a revision that this program needs. The Fault has the remedy. */
export async function requireMigrated(options: MigrationOptions): Promise<void> {
  const { schema } = options;
  const known = await knownMigrations(options.migrations);
  await inSchema(options, async (client) => {
    const { rows } = await client.query<{ present: boolean }>("select to_regclass($1) is not null as present", [
      `${pg.escapeIdentifier(schema)}.migration`,
    ]);
    const applied = rows[0]?.present === true ? await readApplied(client) : new Map<string, Applied>();
    refuseUnknown(known, applied, schema);
    const missing = known.filter((migration) => !applied.has(keyOf(migration)));
    if (missing.length > 0) {
      const names = missing.map((migration) => migration.name).join(", ");
      throw fault("schema_too_old", `schema ${schema} lacks ${names}; run \`tessera migrate all\``);
    }
  });
}
