import { type DatabaseOptions, type Db, openDatabase } from "./database.ts";

/** The number of slow reads at a time, and of additional connections of a process. */
const mostReads = 4;

/** Callers give up after five seconds. This is shorter, so that they learn what took too long. */
const longestReadMs = 4000;

/**
 * Opens connections for reads that may be slow: searches, lists and history.
 *
 * They wait for each other, and never take a connection that a write waits for. The first read opens the first
 * connection.
 */
export function openReads(options: Pick<DatabaseOptions, "url" | "schema" | "role" | "applicationName" | "log">): Db {
  return openDatabase({
    ...options,
    applicationName: `${options.applicationName}-reads`,
    maxConnections: mostReads,
    statementTimeoutMs: longestReadMs,
    readOnly: true,
  });
}
