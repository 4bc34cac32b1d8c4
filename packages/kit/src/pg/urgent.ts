import { type DatabaseOptions, type Db, openDatabase } from "./database.ts";

/** The number of additional connections of a process. Few statements are under way at a time. */
const mostUrgent = 8;

/** Behind the application name of a service. */
export const urgentSuffix = "-urgent";

/** Someone waits for each statement. A server that is silent for longer has failed, and others may have taken over. */
const longestStatementMs = 3000;

/**
 * Opens connections for short statements that must not wait for anything else, for instance for facts that are applied.
 *
 * The first statement opens the first connection.
 */
export function openUrgent(
  options: Pick<DatabaseOptions, "url" | "schema" | "role" | "applicationName" | "log" | "tracing">,
): Db {
  return openDatabase({
    ...options,
    applicationName: `${options.applicationName}${urgentSuffix}`,
    maxConnections: mostUrgent,
    statementTimeoutMs: longestStatementMs,
  });
}
