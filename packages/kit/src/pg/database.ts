import type { Topic } from "@tessera/protos/topic";
import pg from "pg";
import { backoff } from "../backoff.ts";
import { currentContext } from "../context.ts";
import type { Log } from "../log.ts";
import { pause } from "../pause.ts";
import { toByteaArray } from "./binary-array.ts";
import { breaksConnection, isRetryable, toFault } from "./failure.ts";
import { parseTimestamp } from "./instants.ts";
import { type Sql, sql } from "./sql.ts";

/** What runs statements. `Row` states what the statement's columns are; the mapping to the domain sits with the query. */
export interface Queryable {
  many<Row>(statement: Sql): Promise<Row[]>;
  /** The only row; none or several are a bug. */
  one<Row>(statement: Sql): Promise<Row>;
  maybeOne<Row>(statement: Sql): Promise<Row | undefined>;
  /** The number of rows touched. */
  run(statement: Sql): Promise<number>;
}

export interface Tx extends Queryable {
  /** Writes facts into the outbox: they are published if, and only if, this transaction commits. */
  publish<F>(topic: Topic<F>, facts: readonly F[]): Promise<void>;
  /** Writes tombstones: the entities of these keys are gone. */
  retract(topic: { readonly name: string }, keys: readonly string[]): Promise<void>;
}

export interface Db extends Queryable {
  readonly schema: string;
  /** Runs work in one transaction, again from the start when it lost to a concurrent one. No I/O but Postgres inside. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Tells the relay that a statement outside `transaction` has written to the outbox. */
  wroteOutbox(): void;
  /** Called after every commit that may have written to the outbox. */
  onOutbox(listener: () => void): void;
  /** A connection of its own, for advisory locks and LISTEN; the caller releases it. */
  dedicated(): Promise<Dedicated>;
  close(): Promise<void>;
}

export interface Dedicated extends Queryable {
  onNotification(listener: (channel: string, payload: string) => void): void;
  /** Called once when the connection is lost. */
  onLost(listener: () => void): void;
  release(): Promise<void>;
}

export interface DatabaseOptions {
  readonly url: string;
  /** The schema this service owns. */
  readonly schema: string;
  /** The role it acts as, when the URL's user is another one. */
  readonly role?: string;
  readonly applicationName: string;
  readonly log: Log;
  readonly maxConnections?: number;
  readonly statementTimeoutMs?: number;
  /** Writes are refused, and nothing is begun for a caller that no longer waits: reads can be left undone. */
  readonly readOnly?: boolean;
}

/** A statement that loses to a concurrent transaction this often is better refused. */
const attempts = 5;

/** Statement texts are few and fixed; a dynamic filter beyond this many runs unprepared. */
const preparedTexts = 400;

/** Opens the pool of one service: its schema, its role, UTC, instants as microseconds. */
export function openDatabase(options: DatabaseOptions): Db {
  const connection = connectionConfig(options);
  let closed: Promise<void> | undefined;
  const pool = new pg.Pool({
    ...connection,
    max: options.maxConnections ?? 10,
    idleTimeoutMillis: 30_000,
    maxLifetimeSeconds: 3600,
  });
  pool.on("error", (error) => {
    // Connections that are closing still hear of a server that stops.
    if (closed === undefined) options.log.warn("idle database connection lost", { error });
  });
  // The pool listens to idle connections only. One that is lost while a transaction thinks would end the process;
  // whoever uses it next learns of the loss.
  pool.on("connect", (client) => client.on("error", () => {}));
  const names = new Map<string, string>();
  const listeners: (() => void)[] = [];
  const wroteOutbox = () => {
    for (const listener of listeners) listener();
  };
  const requireWaiting = options.readOnly === true ? () => currentContext().signal?.throwIfAborted() : () => {};
  const queryable = runner(async (statement) => {
    const client = await checkOut(pool, requireWaiting);
    try {
      const result = await client.query(named(statement, names));
      client.release();
      return result;
    } catch (error) {
      client.release(breaksConnection(error));
      throw toFault(error);
    }
  });

  return {
    ...queryable,
    schema: options.schema,
    wroteOutbox,
    onOutbox: (listener) => listeners.push(listener),
    async transaction(work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          return await runTransaction({ pool, names, wroteOutbox, requireWaiting }, work);
        } catch (error) {
          if (!isRetryable(error) || attempt === attempts) throw toFault(error);
          await pause(Math.random() * backoff({ firstMs: 40 }, attempt));
        }
      }
    },
    dedicated: () => openDedicated(connection, options.log),
    close: () => (closed ??= pool.end()),
  };
}

async function runTransaction<T>(
  {
    pool,
    names,
    wroteOutbox,
    requireWaiting,
  }: { pool: pg.Pool; names: Map<string, string>; wroteOutbox: () => void; requireWaiting: () => void },
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const client = await checkOut(pool, requireWaiting);
  let wrote = false;
  let ended = false;
  const queryable = runner(
    inTurn(async (statement) => {
      // The connection is somebody else's by then.
      if (ended) throw new Error("a transaction was used after its end: some statement is not awaited");
      requireWaiting();
      return client.query(named(statement, names));
    }),
  );
  const tx: Tx = {
    ...queryable,
    async publish(topic, facts) {
      if (facts.length === 0) return;
      wrote = true;
      await queryable.run(
        outboxRows(
          topic.name,
          facts.map((fact) => topic.key(fact)),
          facts.map((fact) => topic.encode(fact)),
        ),
      );
    },
    async retract(topic, keys) {
      if (keys.length === 0) return;
      wrote = true;
      await queryable.run(
        outboxRows(
          topic.name,
          keys,
          keys.map(() => null),
        ),
      );
    },
  };
  let result: T;
  try {
    await client.query("begin");
    result = await work(tx);
    ended = true;
    const { command } = await client.query("commit");
    // What Postgres answers where a statement failed and the work went on as if it had not.
    if (command !== "COMMIT") throw new Error("a transaction went on after a failed statement; nothing of it remains");
  } catch (error) {
    ended = true;
    if (breaksConnection(error)) client.release(true);
    else
      await client.query("rollback").then(
        () => client.release(),
        () => client.release(true),
      );
    throw error;
  }
  client.release();
  if (wrote) wroteOutbox();
  return result;
}

/** Rows for the outbox. The trace travels along, so that a fact's effects join the request that caused it. */
function outboxRows(topic: string, keys: readonly string[], payloads: readonly (Uint8Array | null)[]): Sql {
  return sql`
    insert into outbox (topic, key, payload, traceparent)
    select ${topic}, fact.key, fact.payload, ${currentContext().traceparent ?? null}
      from unnest(${keys}::text[], ${toByteaArray(payloads)}::bytea[]) with ordinality as fact (key, payload, ord)
     order by fact.ord`;
}

/** Waits for a connection; whoever no longer wants it by then leaves it to the next. */
async function checkOut(pool: pg.Pool, requireWaiting: () => void): Promise<pg.PoolClient> {
  requireWaiting();
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw toFault(error);
  }
  try {
    requireWaiting();
    return client;
  } catch (error) {
    client.release();
    throw error;
  }
}

type Query = (statement: Sql) => Promise<pg.QueryResult>;

/** Makes the statements of one connection wait for each other; the driver's own queue is on its way out. */
function inTurn(query: Query): Query {
  let last: Promise<unknown> = Promise.resolve();
  return (statement) => {
    const turn = last.then(() => query(statement));
    last = turn.catch(() => {});
    return turn;
  };
}

function runner(query: Query): Queryable {
  return {
    many: async <Row>(statement: Sql) => (await query(statement)).rows as Row[],
    async one<Row>(statement: Sql) {
      const { rows } = await query(statement);
      if (rows.length !== 1) throw new Error(`expected one row, got ${rows.length}`);
      return rows[0] as Row;
    },
    async maybeOne<Row>(statement: Sql) {
      const { rows } = await query(statement);
      if (rows.length > 1) throw new Error(`expected at most one row, got ${rows.length}`);
      return rows[0] as Row | undefined;
    },
    run: async (statement) => (await query(statement)).rowCount ?? 0,
  };
}

/** Statements that define things run once: to remember them would use up the names of those that run often. */
const defining = /^\s*(?:create|alter|drop|set|lock)\b/;

/** Prepares statements by text, so that each is planned once per connection. */
function named(statement: Sql, names: Map<string, string>): pg.QueryConfig {
  const { text, values } = statement;
  let name = names.get(text);
  if (name === undefined && names.size < preparedTexts && !defining.test(text)) {
    name = `s${names.size + 1}`;
    names.set(text, name);
  }
  return { text, values: [...values], ...(name === undefined ? {} : { name }) };
}

function connectionConfig(options: DatabaseOptions): pg.ClientConfig {
  const statementTimeout = options.statementTimeoutMs ?? 30_000;
  const settings: Record<string, string | number> = {
    search_path: `${options.schema},public`,
    timezone: "UTC",
    datestyle: "ISO",
    statement_timeout: statementTimeout,
    lock_timeout: 3000,
    idle_in_transaction_session_timeout: 60_000,
    // Whoever vanishes without a word (its machine lost power, a cable was cut) holds locks, and a relay's lead, until the
    // server notices: left alone that takes two hours.
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
    // Nobody waits longer for a connection than for a statement.
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

async function openDedicated(connection: pg.ClientConfig, log: Log): Promise<Dedicated> {
  const client = new pg.Client(connection);
  let listener: (() => void) | undefined;
  let lost = false;
  let released = false;
  const lose = () => {
    if (!lost && !released) listener?.();
    lost = true;
  };
  client.on("error", (error) => {
    if (!released) log.warn("database connection lost", { error });
    lose();
  });
  client.on("end", lose);
  try {
    await client.connect();
  } catch (error) {
    throw toFault(error);
  }
  const queryable = runner(
    inTurn(async (statement) => {
      try {
        return await client.query({ text: statement.text, values: [...statement.values] });
      } catch (error) {
        throw toFault(error);
      }
    }),
  );
  return {
    ...queryable,
    onNotification: (hear) => client.on("notification", ({ channel, payload }) => hear(channel, payload ?? "")),
    onLost: (whenLost) => {
      // It may be gone before anybody listens.
      if (lost) whenLost();
      else listener = whenLost;
    },
    async release() {
      released = true;
      await client.end();
    },
  };
}
