import type { Db } from "@tessera/kit/pg/database";
import { identifier, sql } from "@tessera/kit/pg/sql";
import { describeAge } from "./examine-facts.ts";
import { type Finding, skipped, well } from "./finding.ts";
import { placeOf } from "./hide-secrets.ts";
import type { Service, Surroundings } from "./surroundings.ts";
import { tellFailure } from "./tell-failure.ts";

/** The pool of a service, that of its reads, its relay's lead, and notices. */
const connectionsOfService = 16;

/** A request takes several statements, one after the other. */
const slowMs = 25;

/** Shorter ones are requests and backups of small tables. */
const longTransactionSeconds = 60;

const unknownRemedy = "look at that server and its log, and at what stands between here and there";

/** Nobody reads a longer list; the next look shows the rest. */
const mostListed = 10;

/** Examines the server and its database as a whole. */
export async function examineDatabase(
  { database, definitions }: Pick<Surroundings, "database" | "definitions">,
  { longSeconds = longTransactionSeconds }: { longSeconds?: number } = {},
): Promise<Finding[]> {
  const absence = await database.absence();
  const { admin, url = "", local } = database;
  if (absence !== undefined || admin === undefined) {
    if (absence?.error !== undefined)
      return [
        {
          mend: unknownRemedy,
          ...tellFailure(absence.error, { what: `the database at ${placeOf(url)} cannot be used` }),
        },
      ];
    return [skipped("the database", absence?.reason ?? "there is none")];
  }
  const latencyMs = await measureLatency(admin);
  const [server, knownLetters, activity, long, broken] = [
    await readServer(admin),
    await readKnownLetters(admin),
    await readActivity(admin),
    await readLongTransactions(admin, longSeconds),
    await readBrokenIndexes(admin, definitions),
  ];
  const place = local?.kind === "running" ? `of the data folder (process ${local.pid})` : `at ${placeOf(url)}`;
  return [
    well(`PostgreSQL ${server.version} ${place} answers within ${latencyMs.toFixed(1)} ms`),
    ...judgeLatency(latencyMs),
    ...judgeServer(server),
    ...judgeLetters(knownLetters),
    judgeConnections(server, activity, definitions.length),
    ...long.map(tellLongTransaction),
    ...broken.map(tellBrokenIndex),
  ];
}

async function measureLatency(db: Db): Promise<number> {
  const times: number[] = [];
  for (let round = 0; round < 5; round += 1) {
    const started = performance.now();
    await db.one(sql`select 1 as alive`);
    times.push(performance.now() - started);
  }
  return Math.min(...times);
}

function judgeLatency(ms: number): Finding[] {
  if (ms < slowMs) return [];
  return [
    {
      level: "warning",
      what: `the way to the database and back takes ${Math.round(ms)} ms`,
      why: "a scan takes several of them, one after the other",
      mend: "run services and database in one place; raise REDEEM_LANES where that cannot be",
    },
  ];
}

/** What the server says of itself. */
export interface ServerState {
  readonly version: string;
  readonly number: number;
  readonly encoding: string;
  readonly standby: boolean;
  readonly readonly: boolean;
  readonly most: number;
  readonly reserved: number;
  readonly trigrams: "installed" | "available" | "absent";
}

async function readServer(db: Db): Promise<ServerState> {
  return db.one<ServerState>(sql`
    select split_part(current_setting('server_version'), ' ', 1) as version,
           current_setting('server_version_num')::integer as number,
           pg_encoding_to_char(pg_database.encoding) as encoding,
           pg_is_in_recovery() as standby,
           current_setting('default_transaction_read_only')::boolean as readonly,
           current_setting('max_connections')::integer as most,
           current_setting('superuser_reserved_connections')::integer
             + coalesce(current_setting('reserved_connections', true)::integer, 0) as reserved,
           case when exists (select from pg_extension where pg_extension.extname = 'pg_trgm') then 'installed'
                when exists (select from pg_available_extensions where pg_available_extensions.name = 'pg_trgm')
                then 'available' else 'absent' end as trigrams
      from pg_database
     where pg_database.datname = current_database()`);
}

/** Judges what the server says of itself. */
export function judgeServer({ version, number, encoding, standby, readonly, trigrams }: ServerState): Finding[] {
  const findings: Finding[] = [];
  if (number < 150_000) {
    const what = `PostgreSQL ${version} is too old`;
    findings.push({ level: "wrong", what, mend: "use PostgreSQL 15 or newer" });
  }
  if (encoding !== "UTF8") {
    const what = `the database keeps texts as ${encoding}`;
    const mend = "make a database with `encoding 'UTF8' template template0`, and move to it";
    findings.push({ level: "wrong", what, why: "names that it cannot write are refused", mend });
  }
  if (standby || readonly) {
    const what = standby ? "this server is a standby" : "this server only reads (default_transaction_read_only)";
    findings.push({ level: "wrong", what, why: "nothing can be written", mend: "set DATABASE_URL to the primary" });
  }
  if (trigrams === "available") {
    const mend = "run `tessera migrate all` with an administrator's DATABASE_URL";
    findings.push({ level: "wrong", what: "the extension pg_trgm is not installed in this database", mend });
  }
  if (trigrams === "absent") {
    const what = "the server does not have the extension pg_trgm";
    findings.push({ level: "wrong", what, mend: "install its contrib package (postgresql-contrib)" });
  }
  return findings;
}

/** Which letters the index for searches knows; undefined where it cannot be asked. */
export type KnownLetters = "of all scripts" | "of Latin alone" | undefined;

async function readKnownLetters(db: Db): Promise<KnownLetters> {
  const extension = await db.maybeOne<{ schema: string }>(sql`
    select pg_namespace.nspname as schema
      from pg_extension
      join pg_namespace on pg_namespace.oid = pg_extension.extnamespace
     where pg_extension.extname = 'pg_trgm'
       and has_schema_privilege(pg_namespace.oid, 'usage')`);
  if (extension === undefined) return undefined;
  const { trigrams } = await db.one<{ trigrams: number }>(sql`
    select cardinality(${identifier(extension.schema)}.show_trgm('я')) as trigrams`);
  return trigrams > 0 ? "of all scripts" : "of Latin alone";
}

/** Judges whether searches are quick in every script: an index that knows no letter of a search reads all that it holds. */
export function judgeLetters(known: KnownLetters): Finding[] {
  if (known !== "of Latin alone") return [];
  return [
    {
      level: "warning",
      what: "searches in other scripts than Latin are slow",
      why: "the database's LC_CTYPE knows only the letters of ASCII, so such a search reads the tickets of all events",
      mend: "create the database with LC_CTYPE C.UTF-8 (`lc_ctype 'C.UTF-8' template template0`), and move to it",
    },
  ];
}

interface Activity {
  readonly used: number;
  /** Of processes of Tessera, the doctor apart. */
  readonly ours: number;
}

async function readActivity(db: Db): Promise<Activity> {
  return db.one<Activity>(sql`
    select count(*) filter (where pg_stat_activity.application_name <> 'tessera-doctor') as used,
           count(*) filter (where pg_stat_activity.application_name like 'tessera-%'
                              and pg_stat_activity.application_name <> 'tessera-doctor') as ours
      from pg_stat_activity
     where pg_stat_activity.backend_type = 'client backend'
        -- Of other users' connections a plain user learns no more than whose they are.
        or pg_stat_activity.backend_type is null and pg_stat_activity.usesysid is not null`);
}

/** Judges whether connections are left: for what runs, and for one process of each service. */
export function judgeConnections(
  { most, reserved }: Pick<ServerState, "most" | "reserved">,
  { used, ours }: Activity,
  services: number,
): Finding {
  const open = most - reserved;
  const what = `${used} of ${open} connections are taken, ${ours} of them by Tessera`;
  const mend = "raise max_connections, or find out in pg_stat_activity who holds them";
  if (used >= open * 0.95) return { level: "wrong", what, why: "processes that start will be refused", mend };
  if (used >= open * 0.8) return { level: "warning", what, why: "more processes will hardly find any", mend };
  const needed = services * connectionsOfService;
  if (used - ours + needed > open) {
    const why = `a process takes up to ${connectionsOfService} for each service, ${needed} for all that are asked about`;
    return { level: "warning", what, why, mend };
  }
  return well(what);
}

interface LongTransaction {
  readonly pid: number;
  readonly name: string;
  readonly state: string;
  readonly seconds: number;
}

async function readLongTransactions(db: Db, seconds: number): Promise<LongTransaction[]> {
  return db.many<LongTransaction>(sql`
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
}

function tellLongTransaction({ pid, name, state, seconds }: LongTransaction): Finding {
  const who = name === "" ? `process ${pid}` : `process ${pid} (${name})`;
  return {
    level: "warning",
    what: `a transaction of ${who} has been open for ${describeAge(seconds)}, ${state}`,
    why: "deleted rows stay until it ends: relays walk over them, and facts travel more slowly",
    mend: `let it end, or end it: select pg_terminate_backend(${pid})`,
  };
}

interface BrokenIndex {
  readonly schema: string;
  readonly name: string;
}

async function readBrokenIndexes(db: Db, definitions: readonly Service[]): Promise<BrokenIndex[]> {
  return db.many<BrokenIndex>(sql`
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
}

function tellBrokenIndex({ schema, name }: BrokenIndex): Finding {
  return {
    level: "wrong",
    what: `the index ${schema}.${name} is invalid`,
    why: "its making was cut short: it costs every write and helps no read",
    mend: `reindex index concurrently "${schema}"."${name}"`,
  };
}
