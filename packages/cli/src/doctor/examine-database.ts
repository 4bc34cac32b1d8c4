import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { describeAge } from "./describe-amount.ts";
import { explainFailure } from "./explain-failure.ts";
import { type Finding, only, Skip, warning, well, wrong } from "./finding.ts";
import { endpointOf } from "./hide-secrets.ts";
import type { Service, Surroundings } from "./surroundings.ts";

/** The pool of a service, that of its reads, its relay's lead, and notices. */
const connectionsOfService = 16;

/** Shorter ones are requests and backups of small tables. */
const longTransactionSeconds = 60;

/** Too many to read at once; the next run shows the rest. */
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
    const finding = explainFailure(error, { what: `the database at ${endpointOf(url)} cannot be used` });
    return [
      { ...finding, mend: finding.mend ?? "look at that server, its log, and the network between here and there" },
    ];
  }
  const server = await readServer(db);
  const endpoint = local?.kind === "running" ? `of the data folder (process ${local.pid})` : `at ${endpointOf(url)}`;
  return [
    well(`PostgreSQL ${server.version} ${endpoint} answers`),
    ...judgeServer(server),
    judgeConnections({ ...server, ...(await readConnections(db)) }, definitions.length),
    ...(await findLongTransactions(db, longSeconds)),
    ...(await findInvalidIndexes(db, definitions)),
  ];
}

/** What the server says of itself. */
export interface ServerState {
  readonly version: string;
  readonly number: number;
  readonly encoding: string;
  readonly standby: boolean;
  readonly readonly: boolean;
  /** Connections for plain users. */
  readonly most: number;
  readonly trigrams: "installed" | "available" | "absent";
  /** Whether the index for searches knows letters of other scripts; null where that cannot be asked. */
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

/** Judges what the server says of itself. */
export function judgeServer(server: ServerState): Finding[] {
  const { version, number, encoding, standby, trigrams } = server;
  return only([
    number < 150_000 && wrong(`PostgreSQL ${version} is too old`, { mend: "use PostgreSQL 15 or newer" }),
    encoding !== "UTF8" &&
      wrong(`the database stores texts as ${encoding}`, {
        why: "names that it cannot write are refused",
        mend: "make a database with `encoding 'UTF8' template template0`, and move to it",
      }),
    (standby || server.readonly) &&
      wrong(standby ? "this server is a standby" : "this server only reads (default_transaction_read_only)", {
        why: "nothing can be written",
        mend: "set DATABASE_URL to the primary",
      }),
    trigrams === "available" &&
      wrong("the extension pg_trgm is not installed in this database", {
        mend: "run `tessera migrate all` with an administrator's DATABASE_URL",
      }),
    trigrams === "absent" &&
      wrong("the server does not have the extension pg_trgm", {
        mend: "install its contrib package (postgresql-contrib)",
      }),
    // An index that knows no letter of a search reads everything that it holds.
    server.knowsAllScripts === false &&
      warning("searches in other scripts than Latin are slow", {
        why: "the database's LC_CTYPE knows only the letters of ASCII, so such a search reads the tickets of all events",
        mend: "create the database with LC_CTYPE C.UTF-8 (`lc_ctype 'C.UTF-8' template template0`), and move to it",
      }),
  ]);
}

interface Connections {
  readonly used: number;
  /** Of processes of Tessera. */
  readonly ours: number;
}

async function readConnections(db: Db): Promise<Connections> {
  return db.one<Connections>(sql`
    select count(*) as used, count(*) filter (where pg_stat_activity.application_name like 'tessera-%') as ours
      from pg_stat_activity
     where coalesce(pg_stat_activity.application_name, '') <> 'tessera-doctor'
       and (pg_stat_activity.backend_type = 'client backend'
            -- Of other users' connections a plain user sees nothing but the user.
            or pg_stat_activity.backend_type is null and pg_stat_activity.usesysid is not null)`);
}

/** Judges whether connections are left: for what runs, and for one process of each service. */
export function judgeConnections(
  { most, used, ours }: Pick<ServerState, "most"> & Connections,
  services: number,
): Finding {
  const what = `${used} of ${most} connections are taken, ${ours} of them by Tessera`;
  const mend = "raise max_connections, or find out in pg_stat_activity what holds them";
  if (used >= most * 0.95) return wrong(what, { why: "processes that start will be refused", mend });
  if (used >= most * 0.8) return warning(what, { why: "more processes will hardly get any", mend });
  const needed = services * connectionsOfService;
  if (used - ours + needed <= most) return well(what);
  const why = `a process takes up to ${connectionsOfService} for each service, ${needed} for all that are asked about`;
  return warning(what, { why, mend });
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
      why: "deleted rows stay until it ends: relays read past them, and facts travel more slowly",
      mend: `let it end, or end it: select pg_terminate_backend(${pid})`,
    });
  });
}

async function findInvalidIndexes(db: Db, definitions: readonly Service[]): Promise<Finding[]> {
  const rows = await db.many<{ schema: string; name: string }>(sql`
    select pg_namespace.nspname as schema, pg_class.relname as name
      from pg_index
      join pg_class on pg_class.oid = pg_index.indexrelid
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
     where pg_namespace.nspname = any(${definitions.map(({ schema }) => schema)}::text[])
       and not pg_index.indisvalid
       and not exists (select from pg_stat_progress_create_index as building
                        where building.index_relid = pg_index.indexrelid)
     order by pg_namespace.nspname, pg_class.relname
     limit ${mostListed}`);
  return rows.map(({ schema, name }) =>
    wrong(`the index ${schema}.${name} is invalid`, {
      why: "it was not built to the end: it costs every write and helps no read",
      mend: `reindex index concurrently "${schema}"."${name}"`,
    }),
  );
}
