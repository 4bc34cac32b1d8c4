import { setTimeout as sleep } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { describeAge } from "./describe-amount.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, ok, only, Skip, warning, wrong } from "./finding.ts";
import { endpointOf } from "./hide-secrets.ts";
import type { Surroundings } from "./surroundings.ts";

/** Shorter ones are requests and backups of small tables. */
const longTransactionSeconds = 60;

/** The most that a process opens for a service. */
const connectionsOfService = 24;

/** More than a person reads at once; the next run shows the rest. */
const mostListed = 10;

/** Examines the server and its database as a whole. */
export async function examineDatabase(
  { database, definitions }: Pick<Surroundings, "database" | "definitions">,
  { longSeconds = longTransactionSeconds }: { longSeconds?: number } = {},
): Promise<Finding[]> {
  const { url = "", local } = database;
  let db: Db;
  try {
    db = await database.connect();
  } catch (error) {
    if (error instanceof Skip) throw error;
    const what = `the database at ${endpointOf(url)} cannot be used`;
    const finding = explainFailure(error, { what, trust: "sslrootcert in DATABASE_URL" });
    return [
      { ...finding, mend: finding.mend ?? "look at that server, its log, and the network between here and there" },
    ];
  }
  const server = await readServer(db);
  const endpoint = local?.kind === "running" ? `of the data folder (process ${local.pid})` : `at ${endpointOf(url)}`;
  return [
    ok(`PostgreSQL ${server.version} ${endpoint} answers`),
    ...judgeServer(server),
    judgeConnections(server, { services: definitions.length }),
    ...(await findLongTransactions(db, longSeconds)),
    ...(await findHiddenHolders(db, { schemas: definitions.map(({ schema }) => schema) })),
    ...(server.standby || server.readonly ? [] : await examineRoom(db)),
  ];
}

/** A disk that is full is noticed by writing alone. The table is gone at the end of its transaction. */
async function examineRoom(db: Db): Promise<Finding[]> {
  try {
    await db.transaction((tx) =>
      tx.run(sql`
        create temporary table tessera_doctor on commit drop as
        select repeat('room', 1000) as filling from generate_series(1, 1000)`),
    );
    return [];
  } catch (error) {
    // A role may lack the right to temporary tables; that the database is away is reported by others.
    if (!(error instanceof Fault && error.code === "database_full")) return [];
    return [
      wrong("the database has no room left on its disk", {
        why: "nothing can be stored: scans, records and changes are answered 503",
        mend: "make room on the disk of that server; everything goes on by itself",
      }),
    ];
  }
}

/** What the server reports about itself. */
export interface ServerState {
  readonly version: string;
  readonly number: number;
  readonly encoding: string;
  readonly standby: boolean;
  readonly readonly: boolean;
  /** Connections for plain users. */
  readonly most: number;
  /** Connections of all clients but the doctor. */
  readonly used: number;
  readonly trigrams: "installed" | "available" | "absent";
  /** Whether the index for searches knows letters of other scripts; null where it cannot be asked. */
  readonly knowsAllScripts: boolean | null;
}

async function readServer(db: Db): Promise<ServerState> {
  const state = await db.one<Omit<ServerState, "knowsAllScripts"> & { readonly schema: string | null }>(sql`
    select split_part(current_setting('server_version'), ' ', 1) as version,
           current_setting('server_version_num')::integer as number,
           pg_encoding_to_char(pg_database.encoding) as encoding,
           pg_is_in_recovery() as standby,
           current_setting('default_transaction_read_only')::boolean as readonly,
           current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer
             - coalesce(current_setting('reserved_connections', true)::integer, 0) as most,
           (select count(*)
              from pg_stat_activity
             where coalesce(pg_stat_activity.application_name, '') <> 'tessera-doctor'
               and (pg_stat_activity.backend_type = 'client backend'
                    -- Of the connections of other users a plain user sees only the user.
                    or pg_stat_activity.backend_type is null and pg_stat_activity.usesysid is not null)) as used,
           case when pg_extension.oid is not null then 'installed'
                when exists (select from pg_available_extensions where pg_available_extensions.name = 'pg_trgm')
                then 'available' else 'absent' end as trigrams,
           case when has_schema_privilege(pg_namespace.oid, 'usage') then pg_namespace.nspname end as schema
      from pg_database
      left join pg_extension on pg_extension.extname = 'pg_trgm'
      left join pg_namespace on pg_namespace.oid = pg_extension.extnamespace
     where pg_database.datname = current_database()`);
  if (state.schema === null) return { ...state, knowsAllScripts: null };
  const { known } = await db.one<{ known: boolean }>(sql`
    select cardinality(${identifier(state.schema)}.show_trgm('я')) > 0 as known`);
  return { ...state, knowsAllScripts: known };
}

/** Judges what the server reports about itself. */
export function judgeServer(server: ServerState): Finding[] {
  const { version, number, encoding, standby, trigrams } = server;
  return only([
    number < 150_000 && wrong(`PostgreSQL ${version} is too old`, { mend: "use PostgreSQL 15 or newer" }),
    encoding !== "UTF8" &&
      wrong(`the database stores texts as ${encoding}`, {
        why: "names that it cannot write are refused",
        mend: "make a database with `encoding 'UTF8' template template0`, and move to it",
      }),
    standby &&
      wrong("this server is a standby", { why: "nothing can be written", mend: "set DATABASE_URL to the primary" }),
    !standby &&
      server.readonly &&
      wrong("this server only reads (default_transaction_read_only)", {
        why: "nothing can be written; some providers set it while the disk is full",
        mend: "make room on its disk, or reset the setting where it was set: of the server, the database or the user",
      }),
    trigrams === "available" &&
      wrong("the extension pg_trgm is not installed in this database", {
        mend: "run `tessera migrate all` with an administrator's DATABASE_URL",
      }),
    trigrams === "absent" &&
      wrong("the server does not have the extension pg_trgm", {
        mend: "install its contrib package (postgresql-contrib)",
      }),
    // An index that knows no letter of the search reads all its entries.
    server.knowsAllScripts === false &&
      warning("searches in other scripts than Latin are slow", {
        why: "the database's LC_CTYPE knows only the letters of ASCII, so such a search reads the tickets of all events",
        mend: "create the database with LC_CTYPE C.UTF-8 (`lc_ctype 'C.UTF-8' template template0`), and move to it",
      }),
  ]);
}

/** Judges whether connections are left for a process that starts. */
export function judgeConnections(
  { most, used }: Pick<ServerState, "most" | "used">,
  { services = 1 }: { readonly services?: number } = {},
): Finding {
  const what = `${used} of ${most} connections are in use`;
  const mend = "raise max_connections, or find out in pg_stat_activity what holds them";
  if (used >= most * 0.95) return wrong(what, { why: "a process that starts is refused", mend });
  if (used >= most * 0.8)
    return warning(what, { why: `a process takes up to ${connectionsOfService} for each of its services`, mend });
  const needed = services * connectionsOfService;
  if (most >= needed) return ok(what);
  return warning(`the server admits ${most} connections, and ${services} services may open ${needed}`, {
    why: "when they need more, what finds no connection is answered 503",
    mend: `set max_connections above ${needed}, and ${connectionsOfService} higher for each further replica`,
  });
}

async function findLongTransactions(db: Db, seconds: number): Promise<Finding[]> {
  const rows = await db.many<{ pid: number; name: string; state: string; seconds: number }>(sql`
    select pg_stat_activity.pid, coalesce(pg_stat_activity.application_name, '') as name,
           coalesce(pg_stat_activity.state, 'unknown') as state,
           extract(epoch from clock_timestamp() - pg_stat_activity.xact_start)::integer as seconds
      from pg_stat_activity
     where pg_stat_activity.datname = current_database()
       and pg_stat_activity.backend_type = 'client backend'
       and pg_stat_activity.pid <> pg_backend_pid()
       and pg_stat_activity.xact_start < clock_timestamp() - ${seconds} * interval '1 second'
     order by pg_stat_activity.xact_start
     limit ${mostListed}`);
  return rows.map(({ pid, name, state, seconds: age }) => {
    const process = name === "" ? `process ${pid}` : `process ${pid} (${name})`;
    return warning(`a transaction of ${process} has been open for ${describeAge(age)}, ${state}`, {
      why: "deleted rows stay until it ends: relays read past them, and facts arrive later",
      mend: `let it end, or end it: select pg_terminate_backend(${pid})`,
    });
  });
}

/** A transaction of a service lasts for milliseconds. */
const heldForMs = 1000;

/**
 * Finds transactions of other users that keep tables of the services locked. Of these a plain user sees neither state nor
 * age, but every user sees locks: one that is there twice has been held for as long as was waited between.
 */
export async function findHiddenHolders(
  db: Db,
  { schemas, heldMs = heldForMs }: { readonly schemas: readonly string[]; readonly heldMs?: number },
): Promise<Finding[]> {
  const before = await readHiddenLocks(db, schemas);
  if (before.length === 0) return [];
  await sleep(heldMs);
  const after = await readHiddenLocks(db, schemas);
  return after
    .filter(({ transaction }) => before.some((each) => each.transaction === transaction))
    .slice(0, mostListed)
    .map(({ pid, owner, name }) =>
      warning(`a transaction of process ${pid} (user ${owner}) keeps ${name} locked`, {
        why: "what changes the same rows waits for it, and so do facts; `grant pg_read_all_stats` to this user shows more",
        mend: `let it end, or end it as ${owner} or a superuser: select pg_terminate_backend(${pid})`,
      }),
    );
}

function readHiddenLocks(db: Db, schemas: readonly string[]) {
  return db.many<{ pid: number; owner: string; transaction: string; name: string }>(sql`
    select pg_locks.pid, pg_stat_activity.usename::text as owner, pg_locks.virtualtransaction as transaction,
           min(format('%I.%I', pg_namespace.nspname, pg_class.relname)) as name
      from pg_locks
      join pg_stat_activity on pg_stat_activity.pid = pg_locks.pid
      join pg_class on pg_class.oid = pg_locks.relation
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
     where pg_locks.granted
       -- Who reads, backs up or vacuums lets others write.
       and pg_locks.mode not in ('AccessShareLock', 'ShareUpdateExclusiveLock')
       and pg_stat_activity.datname = current_database()
       and pg_stat_activity.backend_type is null
       and pg_namespace.nspname = any(${schemas}::text[])
     group by pg_locks.pid, pg_stat_activity.usename, pg_locks.virtualtransaction
     order by pg_locks.pid`);
}
