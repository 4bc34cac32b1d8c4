import type { Topic } from "@tessera/protos/topic";
import pg from "pg";
import { header } from "../bus/headers.ts";
import { currentContext } from "../context.ts";
import { databaseAnswers, isAway } from "../telemetry/fold-outages.ts";
import type { Log } from "../telemetry/log.ts";
import { type Tracing, untraced } from "../telemetry/trace.ts";
import { backoff } from "../waiting/backoff.ts";
import { pause } from "../waiting/pause.ts";
import { type ConnectionSettings, connectionConfig } from "./connection-config.ts";
import { type Dedicated, openDedicated } from "./dedicated.ts";
import { breaksConnection, isRetryable, isSilence, toFault } from "./failure.ts";
import { type OutboxFact, outboxRows } from "./outbox.ts";
import { rememberStatements, type Statements } from "./prepared-statements.ts";
import { inTurn, type Query, type Queryable, runner } from "./queryable.ts";
import { traceFacts, traceStatements } from "./trace-statements.ts";

export type { Dedicated, Queryable };

export interface Tx extends Queryable {
  /** Writes facts into the outbox: they are published if and only if this transaction commits. */
  publish<F>(topic: Topic<F>, facts: readonly F[]): Promise<void>;
  /** Writes tombstones: the entities of these keys are deleted, after their states with revisions below `deletedAt`. */
  retract(
    topic: { readonly name: string },
    keys: readonly string[],
    options?: { readonly deletedAt?: number },
  ): Promise<void>;
}

export interface PoolState {
  readonly used: number;
  readonly idle: number;
  /** Callers that wait for a connection. */
  readonly waiting: number;
  readonly limit: number;
}

export interface Db extends Queryable {
  readonly schema: string;
  pool(): PoolState;
  /** Runs work in one transaction. Repeats it from the start when it loses to a concurrent one. No I/O but Postgres inside. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /** Adds a listener for commits that wrote to the outbox. */
  onOutbox(listener: () => void): void;
  /** A connection of its own, for advisory locks and LISTEN; the caller releases it. */
  dedicated(): Promise<Dedicated>;
  close(): Promise<void>;
}

export interface DatabaseOptions extends ConnectionSettings {
  readonly log: Log;
  /** By default statements are not traced. */
  readonly tracing?: Tracing;
  readonly maxConnections?: number | undefined;
}

/** A transaction that loses to concurrent ones this often is refused. */
const attempts = 5;

/** Opens the pool of one service: its schema, its role, UTC, instants as microseconds. */
export function openDatabase(options: DatabaseOptions): Db {
  const connection = connectionConfig(options);
  const most = options.maxConnections ?? 10;
  let closed: Promise<void> | undefined;
  const outage = watchOutage(options.log);
  const openPool = () => {
    const opened = new pg.Pool({
      ...connection,
      max: most,
      idleTimeoutMillis: 30_000,
      maxLifetimeSeconds: 3600,
    });
    opened.on("error", (error) => {
      // While the pool closes, its connections may still report that the server stops.
      if (closed === undefined) options.log.warn("idle database connection lost", { error: outage.failed(error) });
    });
    // The pool listens to idle connections only. Without this listener, the loss of a connection between two statements
    // of a transaction would end the process. The next statement reports the loss.
    opened.on("connect", (client) => client.on("error", () => {}));
    return opened;
  };
  const connections: Connections = {
    pool: openPool(),
    drop(silent, error) {
      if (silent !== this.pool || closed !== undefined) return;
      options.log.warn("the database does not answer; all connections are replaced", { error: toFault(error) });
      this.pool = openPool();
      // It ends when the last of its connections is given back. A lost one takes as long as the network does.
      void silent.end().catch(() => {});
    },
  };
  const statements = rememberStatements();
  const listeners: (() => void)[] = [];
  const wakeRelay = () => {
    for (const listener of listeners) listener();
  };
  const requireWaiting = options.readOnly === true ? () => currentContext().signal?.throwIfAborted() : () => {};
  const { tracing = untraced } = options;
  const traced = (query: Query) => traceStatements(query, tracing, options);
  const run: Query = async (statement) => {
    const { pool } = connections;
    const client = await checkOut(pool, { requireWaiting, outage });
    const { query, wakesRelay } = statements.prepare(statement);
    let result: pg.QueryResult;
    try {
      result = await client.query(query);
    } catch (error) {
      client.release(breaksConnection(error));
      if (isSilence(error)) connections.drop(pool, error);
      throw outage.failed(error);
    }
    client.release();
    outage.answered();
    if (wakesRelay) wakeRelay();
    return result;
  };
  const queryable = runner(traced(run));

  return {
    ...queryable,
    schema: options.schema,
    pool() {
      const { totalCount, idleCount, waitingCount } = connections.pool;
      return { used: totalCount - idleCount, idle: idleCount, waiting: waitingCount, limit: most };
    },
    onOutbox: (listener) => listeners.push(listener),
    async transaction(work) {
      for (let attempt = 1; ; attempt += 1) {
        try {
          const shared = { connections, outage, statements, tracing, traced, wakeRelay, requireWaiting };
          const result = await runTransaction(shared, work);
          outage.answered();
          return result;
        } catch (error) {
          if (!isRetryable(error) || attempt === attempts) throw outage.failed(error);
          await pause(Math.random() * backoff({ firstMs: 40 }, attempt));
        }
      }
    },
    dedicated: () => openDedicated(connection, options),
    close: () => (closed ??= connections.pool.end()),
  };
}

interface Connections {
  pool: pg.Pool;
  /**
   * Stops using all connections of a pool. A server that vanished (power failure, moved address) leaves all of them as
   * silent as the one that was noticed, while new ones may reach its successor at once.
   */
  drop(silent: pg.Pool, error: unknown): void;
}

/** Whether the database serves a pool. */
interface OutageWatch {
  /** Makes an error of the driver a Fault. */
  failed(error: unknown): unknown;
  answered(): void;
}

/** Logs the first success after an outage. */
function watchOutage(log: Log): OutageWatch {
  let isOver = true;
  return {
    failed(error) {
      const fault = toFault(error);
      if (isAway(fault)) isOver = false;
      return fault;
    },
    answered() {
      if (isOver) return;
      isOver = true;
      log.info(databaseAnswers);
    },
  };
}

/** What the transactions of one service share. */
interface Shared {
  readonly connections: Connections;
  readonly outage: OutageWatch;
  readonly statements: Statements;
  readonly tracing: Tracing;
  /** Makes the statements of a query spans. */
  traced(query: Query): Query;
  wakeRelay(): void;
  /** Throws when the caller no longer waits, and may be left without an answer. */
  requireWaiting(): void;
}

async function runTransaction<T>(
  { connections, outage, statements, tracing, traced, wakeRelay, requireWaiting }: Shared,
  work: (tx: Tx) => Promise<T>,
): Promise<T> {
  const { pool } = connections;
  const client = await checkOut(pool, { requireWaiting, outage });
  let wrote = false;
  let ended = false;
  const run: Query = async (statement) => {
    // Another caller may have the connection by now.
    if (ended) throw new Error("a transaction was used after its end: some statement is not awaited");
    requireWaiting();
    const { query, wakesRelay } = statements.prepare(statement);
    wrote ||= wakesRelay;
    return client.query(query);
  };
  const queryable = runner(inTurn(traced(run)));
  const write = async (topic: string, facts: readonly OutboxFact[]) => {
    if (facts.length === 0) return;
    await traceFacts(tracing, { topic, facts: facts.length }, async () => {
      await queryable.run(outboxRows(topic, facts));
    });
  };
  const tx: Tx = {
    ...queryable,
    publish: (topic, facts) =>
      write(
        topic.name,
        facts.map((fact) => ({ key: topic.key(fact), payload: topic.encode(fact) })),
      ),
    retract: (topic, keys, { deletedAt } = {}) => {
      const headers = deletedAt === undefined ? {} : { headers: { [header.revision]: String(deletedAt) } };
      return write(
        topic.name,
        keys.map((key) => ({ key, payload: null, ...headers })),
      );
    },
  };
  let result: T;
  try {
    await client.query("begin");
    result = await work(tx);
    ended = true;
    const { command } = await client.query("commit");
    // Postgres answers ROLLBACK after a failed statement whose error the work ignored.
    if (command !== "COMMIT") throw new Error("a transaction went on after a failed statement; nothing of it remains");
  } catch (error) {
    ended = true;
    if (isSilence(error)) connections.drop(pool, error);
    if (breaksConnection(error)) client.release(true);
    else
      await client.query("rollback").then(
        () => client.release(),
        () => client.release(true),
      );
    throw error;
  }
  client.release();
  if (wrote) wakeRelay();
  return result;
}

/** Waits for a connection. A caller that no longer waits by then gets none. */
async function checkOut(
  pool: pg.Pool,
  { requireWaiting, outage }: Pick<Shared, "requireWaiting" | "outage">,
): Promise<pg.PoolClient> {
  requireWaiting();
  let client: pg.PoolClient;
  try {
    client = await pool.connect();
  } catch (error) {
    throw outage.failed(error);
  }
  try {
    requireWaiting();
    return client;
  } catch (error) {
    client.release();
    throw error;
  }
}
