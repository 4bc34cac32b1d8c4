import { createHash } from "node:crypto";
import { readdir, readFile } from "node:fs/promises";
import pg from "pg";
import { Fault } from "../fault.ts";
import type { Log } from "../log.ts";

export interface MigrationOptions {
  readonly url: string;
  readonly schema: string;
  readonly role?: string;
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

const kitMigrations = new URL("../../migrations/", import.meta.url);

/**
 * Brings one schema up to the newest revision.
 *
 * Numbered files only go forward. Each runs in a transaction with its row in
 * `migration`, unless headed `--! no-transaction`; one headed `--! breaking`
 * makes programs that do not know it refuse to run. An advisory lock makes
 * concurrent migrators wait for each other.
 */
export async function migrate(options: MigrationOptions): Promise<number> {
  const known = await knownMigrations(options.migrations);
  const client = new pg.Client({ connectionString: options.url, application_name: `tessera-migrate-${options.schema}`, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    if (options.role !== undefined) await client.query(`set role ${pg.escapeIdentifier(options.role)}`);
    await client.query(`set search_path = ${pg.escapeIdentifier(options.schema)}, public`);
    await client.query("select pg_advisory_lock(hashtextextended('tessera migrate ' || current_schema(), 0))");
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
      await apply(client, migration);
      options.log.info("schema migrated", { schema: options.schema, scope: migration.scope, migration: migration.name });
      count += 1;
    }
    return count;
  } finally {
    await client.end();
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
    await client.query(migration.text);
    await record();
    return;
  }
  await client.query("begin");
  try {
    await record();
    await client.query(migration.text);
    await client.query("commit");
  } catch (error) {
    await client.query("rollback");
    throw error;
  }
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
      throw new Fault("unmet", "schema_too_new", `schema ${schema} has ${row.name}, which this version cannot run with; run a newer version`);
    }
    if (migration !== undefined && migration.checksum !== row.checksum) {
      throw new Fault("unmet", "migration_changed", `migration ${row.name} of schema ${schema} was changed after it was applied; restore the file and add a new one`);
    }
  }
}

async function knownMigrations(own: URL): Promise<Migration[]> {
  return [...(await readMigrations("kit", kitMigrations)), ...(await readMigrations("own", own))];
}

async function readMigrations(scope: Migration["scope"], folder: URL): Promise<Migration[]> {
  const names = (await readdir(folder)).filter((name) => name.endsWith(".sql")).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(new URL(name, folder), "utf8");
      return {
        scope,
        revision: Number.parseInt(name, 10),
        name,
        text,
        checksum: createHash("sha256").update(text).digest("hex"),
        transactional: !text.startsWith("--! no-transaction"),
        breaking: /^--! breaking$/m.test(text),
      };
    }),
  );
}

/** Refuses to run on a schema that lacks a revision this program was written for, and says what to do. */
export async function requireMigrated(options: MigrationOptions): Promise<void> {
  const client = new pg.Client({ connectionString: options.url, application_name: `tessera-${options.schema}`, connectionTimeoutMillis: 5000 });
  await client.connect();
  try {
    if (options.role !== undefined) await client.query(`set role ${pg.escapeIdentifier(options.role)}`);
    await client.query(`set search_path = ${pg.escapeIdentifier(options.schema)}`);
    const { rows } = await client.query("select to_regclass('migration') is not null as present");
    const known = await knownMigrations(options.migrations);
    const applied = rows[0]?.present === true ? await readApplied(client) : new Map<string, Applied>();
    refuseUnknown(known, applied, options.schema);
    const missing = known.filter((migration) => !applied.has(`${migration.scope} ${migration.revision}`));
    if (missing.length > 0) {
      throw new Fault("unmet", "schema_too_old", `schema ${options.schema} lacks ${missing.map((migration) => migration.name).join(", ")}; run \`tessera migrate ${options.schema}\``);
    }
  } finally {
    await client.end();
  }
}
