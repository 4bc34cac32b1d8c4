import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import { roleOf } from "@tessera/kit/pg/provision";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { describeAge, type Finding, ok, only, Skip, warning, wrong } from "@tessera/kit/service/finding";
import { explainFailure, explainRefusal } from "../command/explain-failure.ts";
import { endpointOf } from "../command/hide-secrets.ts";
import type { Service, Surroundings } from "../configuration/surroundings.ts";

/** The most that a process opens for a service. */
const connectionsOfService = 24;

/** More than a person reads at once; the next run shows the rest. */
const mostListed = 10;

/** Examines the server and its database as a whole. Shorter transactions are requests and backups of small tables. */
export async function examineDatabase(
  { database, definitions }: Pick<Surroundings, "database" | "definitions">,
  { longSeconds = 60 }: { longSeconds?: number } = {},
): Promise<Finding[]> {
  const { url = "", local } = database;
  let db: Db;
  try {
    db = await database.connect();
  } catch (error) {
    if (error instanceof Skip) throw error;
    const what = `the database at ${endpointOf(url)} cannot be used`;
    const finding = explainFailure(error, { what, trust: "sslrootcert in DATABASE_URL" });
    const mend = finding.mend ?? "look at that server, its log, and the network between here and there";
    return [{ ...finding, mend }];
  }
  const server = await readServer(db);
  const endpoint = local?.kind === "running" ? `of the data folder (process ${local.pid})` : `at ${endpointOf(url)}`;
  return only([
    ok(`PostgreSQL ${server.version} ${endpoint} answers`),
    ...judgeServer(server),
    judgeConnections(server, { services: definitions.length }),
    ...(await findLongTransactions(db, longSeconds)),
    !server.standby &&
      !server.readonly &&
      (await isFull(db)) &&
      wrong`the database has no room left on its disk
        nothing can be stored: scans, records and changes are answered 503
        → make room on the disk of that server; everything goes on by itself`,
  ]);
}

/** A full disk shows only in a write. The temporary table is gone at the end of its transaction. */
async function isFull(db: Db): Promise<boolean> {
  const filling = sql`
    create temporary table tessera_doctor on commit drop as
    select repeat('room', 1000) as filling from generate_series(1, 1000)`;
  // A role may lack the right to create temporary tables; other examinations report an unreachable database.
  return db
    .transaction((tx) => tx.run(filling))
    .then(
      () => false,
      (error: unknown) => error instanceof Fault && error.code === "database_full",
    );
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
  /** Connections that `max_connections` counts and plain users do not get. */
  readonly reserved: number;
  /** Connections of all clients but the doctor. */
  readonly used: number;
  readonly trigrams: "installed" | "available" | "absent";
  /** Whether the search index knows letters of other scripts; null: unknown. */
  readonly knowsAllScripts: boolean | null;
}

async function readServer(db: Db): Promise<ServerState> {
  const state = await db.one<Omit<ServerState, "knowsAllScripts"> & { readonly schema: string | null }>(sql`
    select split_part(current_setting('server_version'), ' ', 1) as version,
           current_setting('server_version_num')::integer as number,
           pg_encoding_to_char(pg_database.encoding) as encoding,
           pg_is_in_recovery() as standby,
           current_setting('default_transaction_read_only')::boolean as readonly,
           current_setting('max_connections')::integer - reserve.connections as most,
           reserve.connections as reserved,
           (select count(*)
              from pg_stat_activity
             where coalesce(pg_stat_activity.application_name, '') <> 'tessera-doctor'
               and (pg_stat_activity.backend_type = 'client backend'
                    -- A plain user sees of other users' connections only the user.
                    or pg_stat_activity.backend_type is null and pg_stat_activity.usesysid is not null)) as used,
           case when pg_extension.oid is not null then 'installed'
                when exists (select from pg_available_extensions where pg_available_extensions.name = 'pg_trgm')
                then 'available' else 'absent' end as trigrams,
           case when has_schema_privilege(pg_namespace.oid, 'usage') then pg_namespace.nspname end as schema
      from pg_database
     cross join (select current_setting('superuser_reserved_connections')::integer
                        + coalesce(current_setting('reserved_connections', true)::integer, 0) as connections) as reserve
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
  return only([
    server.number < 150_000 &&
      wrong`PostgreSQL ${server.version} is too old
        → use PostgreSQL 15 or newer`,
    server.encoding !== "UTF8" &&
      wrong`the database stores texts as ${server.encoding}
        names that it cannot write are refused
        → make a database with \`encoding 'UTF8' template template0\`, and move to it`,
    server.standby &&
      wrong`this server is a standby
        nothing can be written
        → set DATABASE_URL to the primary`,
    !server.standby &&
      server.readonly &&
      wrong`this server only reads (default_transaction_read_only)
        nothing can be written; some providers set it while the disk is full
        → make room on its disk, or reset the setting where it was set: of the server, the database or the user`,
    server.trigrams === "available" &&
      wrong`the extension pg_trgm is not installed in this database
        → run \`tessera migrate all\` with an administrator's DATABASE_URL`,
    server.trigrams === "absent" &&
      wrong`the server does not have the extension pg_trgm
        → install its contrib package (postgresql-contrib)`,
    // For a search without known letters the index reads all its entries.
    server.knowsAllScripts === false &&
      warning`searches in other scripts than Latin are slow
        the database's LC_CTYPE knows only the letters of ASCII, so such a search reads the tickets of all events
        → create the database with LC_CTYPE C.UTF-8 (\`lc_ctype 'C.UTF-8' template template0\`), and move to it`,
  ]);
}

/** Judges whether enough connections are left for another process. */
export function judgeConnections(
  { most, reserved, used }: Pick<ServerState, "most" | "reserved" | "used">,
  { services = 1 }: { readonly services?: number } = {},
): Finding {
  const what = `${used} of ${most} connections are in use`;
  const mend = "raise max_connections, or find out in pg_stat_activity what holds them";
  const needed = services * connectionsOfService;
  if (used >= most * 0.95)
    return wrong`${what}
      a process that starts is refused
      → ${mend}`;
  if (used >= most * 0.8)
    return warning`${what}
      a process takes up to ${connectionsOfService} for each of its services
      → ${mend}`;
  if (most >= needed) return ok(what);
  return warning`the server admits ${most} connections, and ${services} services may open ${needed}
    when they need more, what finds no connection is answered 503
    → set max_connections to ${needed + reserved} or more, and ${connectionsOfService} higher for each further replica`;
}

async function findLongTransactions(db: Db, longSeconds: number): Promise<Finding[]> {
  const rows = await db.many<{ pid: number; name: string; state: string; seconds: number }>(sql`
    select pg_stat_activity.pid, coalesce(pg_stat_activity.application_name, '') as name,
           coalesce(pg_stat_activity.state, 'unknown') as state,
           extract(epoch from clock_timestamp() - pg_stat_activity.xact_start)::integer as seconds
      from pg_stat_activity
     where pg_stat_activity.datname = current_database()
       and pg_stat_activity.backend_type = 'client backend'
       and pg_stat_activity.pid <> pg_backend_pid()
       and pg_stat_activity.xact_start < clock_timestamp() - ${longSeconds} * interval '1 second'
     order by pg_stat_activity.xact_start
     limit ${mostListed}`);
  return rows.map(({ pid, name, state, seconds }) => {
    const process = name === "" ? `process ${pid}` : `process ${pid} (${name})`;
    return warning`a transaction of ${process} has been open for ${describeAge(seconds)}, ${state}
      deleted rows stay until it ends: relays read past them, and facts arrive later
      → let it end, or end it: select pg_terminate_backend(${pid})`;
  });
}

/** Examines whether schema and role exist, all migrations were applied unchanged, and the role owns everything. */
export async function examineSchema({ database }: Surroundings, service: Service): Promise<Finding[]> {
  const { name, schema } = service;
  const refusal = await database.refusal(service);
  if (refusal instanceof Fault && refusal.kind === "unmet") return explainRefusal(refusal);
  if (refusal !== undefined) return [explainFailure(refusal, { what: `the schema of ${name} cannot be read` })];
  const db = await database.as(service);
  const role = roleOf(schema);
  // After a restore without owners, or if an administrator created a table.
  const foreign = await db.many<{ table: string; owner: string; mend: string }>(sql`
    select pg_class.relname as table, pg_get_userbyid(pg_class.relowner) as owner,
           format('alter table %I.%I owner to %I', pg_namespace.nspname, pg_class.relname, ${role}::text) as mend
      from pg_class
      join pg_namespace on pg_namespace.oid = pg_class.relnamespace
     where pg_namespace.nspname = ${schema}
       and pg_class.relkind in ('r', 'p', 'S', 'v', 'm')
       and pg_get_userbyid(pg_class.relowner) <> ${role}
       and not exists (select from pg_depend
                        where pg_depend.classid = 'pg_class'::regclass
                          and pg_depend.objid = pg_class.oid
                          and pg_depend.deptype = 'e')
     order by pg_class.relname
     limit ${mostListed}`);
  if (foreign.length === 0) return [ok(`the schema of ${name} is up to date`)];
  return foreign.map(
    ({ table, owner, mend }) =>
      wrong`${table} of schema ${schema} belongs to ${owner}, not to ${role}
        the service has no right to it, and what needs it fails or is answered 503
        → as ${owner} or a superuser: ${mend}; a table of your own belongs into another schema`,
  );
}
