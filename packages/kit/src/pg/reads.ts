import { type DatabaseOptions, type Db, openDatabase } from "./database.ts";

/** As many slow reads as may run beside everything else; what a process takes grows by no more. */
const mostReads = 4;

/** Below the five seconds after which callers give up, so that they are still told what took too long. */
const longestReadMs = 4000;

/**
 * Opens connections for what only reads: searches, lists and history.
 *
 * However many of them come, and however slow they are, they wait for each other and never hold a connection that a
 * write waits for. No connection is opened before the first of them.
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
