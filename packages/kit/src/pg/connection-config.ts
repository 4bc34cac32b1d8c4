import pg from "pg";
import { parseTimestamp } from "./instants.ts";

export interface ConnectionSettings {
  readonly url: string;
  /** The schema this service owns. */
  readonly schema: string;
  /** The role that it acts as; by default the user of the URL. */
  readonly role?: string | undefined;
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
  /**
   * Writes are refused, all statements of a transaction see one state, each statement is planned for its values, and no
   * read begins for a caller that no longer waits.
   */
  readonly readOnly?: boolean;
}

const writing = {
  // Postgres would plan batches of one to four rows again every time, at twice the cost.
  plan_cache_mode: "force_generic_plan",
  // Rows are looked up by their keys. A plan of no statistics may sort what another index has in a part of that order:
  // for each key it reads all rows that begin alike.
  enable_incremental_sort: "off",
};

/**
 * A page of a large collection and the same page of a small one need different plans. A plan for the average of both reads
 * the large one for the small one.
 */
const reading = {
  plan_cache_mode: "force_custom_plan",
  default_transaction_read_only: "on",
  // In Postgres' notation a backslash quotes the blank.
  default_transaction_isolation: "repeatable\\ read",
};

/** The configuration of a connection: schema and role, UTC, time limits, and instants as microseconds. */
export function connectionConfig(options: ConnectionSettings): pg.ClientConfig {
  const statementTimeout = options.statementTimeoutMs ?? 30_000;
  const settings: Record<string, string | number> = {
    search_path: `${options.schema},public`,
    timezone: "UTC",
    datestyle: "ISO",
    statement_timeout: statementTimeout,
    lock_timeout: 3000,
    idle_in_transaction_session_timeout: 60_000,
    // A client that disappears without closing its connection (power failure, cut cable) keeps its locks, and a relay's
    // lead, until the server notices. By default that takes two hours.
    tcp_keepalives_idle: 15,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 30_000,
    // Parallel workers would take the cores that the statements of others need, and hardly any statement gains from them.
    max_parallel_workers_per_gather: 0,
    // Statements are short: compiling them costs more than it saves.
    jit: "off",
    ...(options.role === undefined ? {} : { role: options.role }),
    ...(options.readOnly === true ? reading : writing),
  };
  const flags = Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
  return {
    // In the driver an option of the URL replaces `options` below. So these flags are added to it there; the last one wins.
    connectionString: options.url.replace(/[?&]options=[^&]*/, (own) => `${own}%20${encodeURIComponent(flags)}`),
    options: flags,
    application_name: options.applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: 15_000,
    // No caller waits longer for a connection than for a statement.
    connectionTimeoutMillis: Math.min(5000, statementTimeout),
    // Longer than the server's own limit: it is for a server that does not answer at all.
    query_timeout: statementTimeout + 1000,
    types: { getTypeParser },
  };
}

const parsers = new Map<number, (text: string) => unknown>([
  // int8, timestamptz, date
  [20, toExactNumber],
  [1184, parseTimestamp],
  [1082, (text) => text],
  // Arrays of those, and of numeric, which is read as text.
  [1016, arrayOf(toExactNumber)],
  [1185, arrayOf(parseTimestamp)],
  [1182, arrayOf((text) => text)],
  [1231, arrayOf((text) => text)],
]);

const getTypeParser: typeof pg.types.getTypeParser = ((oid: number, format?: "text"): unknown =>
  parsers.get(oid) ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

function arrayOf(parse: (text: string) => unknown): (text: string) => unknown {
  // The parser of text[], which does not change its elements.
  const split = pg.types.getTypeParser(1009 as Parameters<typeof getTypeParser>[0]) as (
    text: string,
  ) => (string | null)[];
  return (text) => split(text).map((element) => (element === null ? null : parse(element)));
}

/** Instants beyond 2^53 microseconds are exact if they are whole seconds. */
function toExactNumber(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) && BigInt(value) !== BigInt(text))
    throw new RangeError("an integer came from the database that is no exact number");
  return value;
}
