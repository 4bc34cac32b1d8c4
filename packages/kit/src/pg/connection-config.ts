import pg from "pg";
import { parseTimestamp } from "./instants.ts";

/** What every connection of one service has in common. */
export interface ConnectionSettings {
  readonly url: string;
  /** The schema this service owns. */
  readonly schema: string;
  /** The role it acts as, if the URL's user is another one. */
  readonly role?: string | undefined;
  readonly applicationName: string;
  readonly statementTimeoutMs?: number;
  /** Writes are refused, and nothing is begun for a caller that no longer waits: reads can be left undone. */
  readonly readOnly?: boolean;
}

/** How a connection acts: its schema and role, UTC, time limits, and instants as microseconds. */
export function connectionConfig(options: ConnectionSettings): pg.ClientConfig {
  const statementTimeout = options.statementTimeoutMs ?? 30_000;
  const settings: Record<string, string | number> = {
    search_path: `${options.schema},public`,
    timezone: "UTC",
    datestyle: "ISO",
    statement_timeout: statementTimeout,
    lock_timeout: 3000,
    idle_in_transaction_session_timeout: 60_000,
    // A client that vanishes without a word (its machine lost power, a cable was cut) holds locks, and a relay's lead,
    // until the server notices: by default that takes two hours.
    tcp_keepalives_idle: 15,
    tcp_keepalives_interval: 5,
    tcp_keepalives_count: 3,
    tcp_user_timeout: 30_000,
    // Batches of one to four rows would otherwise be planned anew every time, at twice the cost.
    plan_cache_mode: "force_generic_plan",
    ...(options.role === undefined ? {} : { role: options.role }),
    ...(options.readOnly === true ? { default_transaction_read_only: "on" } : {}),
  };
  const flags = Object.entries(settings)
    .map(([name, value]) => `-c ${name}=${value}`)
    .join(" ");
  return {
    // The driver lets a URL replace what is given beside it, so flags of the URL's own are joined there; the last one wins.
    connectionString: options.url.replace(/[?&]options=[^&]*/, (own) => `${own}%20${encodeURIComponent(flags)}`),
    options: flags,
    application_name: options.applicationName,
    keepAlive: true,
    keepAliveInitialDelayMillis: 15_000,
    // No caller waits longer for a connection than for a statement.
    connectionTimeoutMillis: Math.min(5000, statementTimeout),
    // Behind the server's own limit: only for a server that no longer answers at all.
    query_timeout: statementTimeout + 5000,
    types: { getTypeParser },
  };
}

const parsers = new Map<number, (text: string) => unknown>([
  // int8, timestamptz, date
  [20, toSafeInteger],
  [1184, parseTimestamp],
  [1082, (text) => text],
  // Arrays of those, and of numeric, which reads as text alone, too.
  [1016, arrayOf(toSafeInteger)],
  [1185, arrayOf(parseTimestamp)],
  [1182, arrayOf((text) => text)],
  [1231, arrayOf((text) => text)],
]);

const getTypeParser: typeof pg.types.getTypeParser = ((oid: number, format?: "text"): unknown =>
  parsers.get(oid) ?? pg.types.getTypeParser(oid, format)) as typeof pg.types.getTypeParser;

function arrayOf(parse: (text: string) => unknown): (text: string) => unknown {
  // The element type of text[]: one that leaves its elements alone.
  const split = pg.types.getTypeParser(1009 as Parameters<typeof getTypeParser>[0]) as (
    text: string,
  ) => (string | null)[];
  return (text) => split(text).map((element) => (element === null ? null : parse(element)));
}

function toSafeInteger(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value)) throw new RangeError("an integer beyond 2^53 came from the database");
  return value;
}
