import { currentContext } from "../context.ts";
import { fault } from "../faults.ts";
import { Turns } from "../waiting/turns.ts";
import { type DatabaseOptions, type Db, openDatabase, type PoolState } from "./database.ts";

/** The number of slow reads at a time, and of additional connections of a process. */
const mostReads = 4;

/** Callers give up after five seconds. This is shorter, so that they learn what took too long. */
const longestReadMs = 4000;

/** A caller that waits for longer learns that its own party asks for too much, while it still listens. */
const longestWaitMs = 3000;

/** As many as a large party has devices: they may all ask in one moment, for something small. */
const longestQueue = 200;

/**
 * Connections for reads that may be slow, shared by parties that do not know of each other.
 *
 * A party has at most half of them, however much it asks for, and what waits begins in turns of the parties. So its own
 * reads wait for each other, and those of no other one.
 */
export interface Reads {
  inTurn<T>(party: string, read: (db: Db) => Promise<T>): Promise<T>;
  pool(): PoolState;
  close(): Promise<void>;
}

/**
 * Opens connections for reads that may be slow: searches, lists and history.
 *
 * They wait for each other, and never take a connection that a write waits for. The first read opens the first
 * connection.
 */
export function openReads(
  options: Pick<DatabaseOptions, "url" | "schema" | "role" | "applicationName" | "log" | "tracing">,
): Reads {
  return shareReads(
    openDatabase({
      ...options,
      applicationName: `${options.applicationName}-reads`,
      maxConnections: mostReads,
      statementTimeoutMs: longestReadMs,
      readOnly: true,
    }),
  );
}

/** Shares the connections of a database among parties. */
export function shareReads(db: Db): Reads {
  const turns = new Turns({
    total: mostReads,
    each: mostReads / 2,
    waitMs: longestWaitMs,
    queue: longestQueue,
    busy: () => fault("too_many_reads", "Too many searches and lists are asked for at once; ask again soon."),
  });
  return {
    inTurn: (party, read) => turns.run({ party, amount: 1, signal: currentContext().signal }, () => read(db)),
    pool: () => ({ ...db.pool(), waiting: turns.waiting }),
    close: () => db.close(),
  };
}
