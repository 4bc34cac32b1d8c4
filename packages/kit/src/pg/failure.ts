import { Fault } from "../fault.ts";
import { fault, type KitFault } from "../faults.ts";

/** SQLSTATEs after which the same transaction may well succeed. */
const retryable = new Set(["40001", "40P01"]);

/**
 * The server cannot serve at the moment. Whole classes: connections (08), who may connect (28), resources such as disk
 * and memory (53), the operating system (58). Single ones: shutdown (57P), time limits of an idle session (25P), a
 * read-only standby (25006).
 */
const unavailable = /^(?:08...|28...|53...|58...|57P0[1-5]|25P0[34]|25006)$/;

/** The connection prepared the statement before a migration changed its columns. A new connection prepares it again. */
const outdatedPlan = "RevalidateCachedQuery";

/** A row was being written to the default partition when its own partition was attached. */
const partitionCameBetween = "ExecPartitionCheckEmitError";

const diskFull = "53100";
const lockNotAvailable = "55P03";
const onlyReads = "25006";
const queryCanceled = "57014";

/** Whether the transaction lost to a concurrent one, and may run again. */
export function isRetryable(error: unknown): boolean {
  return retryable.has(sqlState(error)) || comesFrom(error, outdatedPlan) || comesFrom(error, partitionCameBetween);
}

/** Whether the connection can no longer be trusted after this error. */
export function breaksConnection(error: unknown): boolean {
  return unavailable.test(sqlState(error)) || isConnectionLoss(error) || comesFrom(error, outdatedPlan);
}

/** Whether a row has what another one has under this unique index. */
export function isTaken(error: unknown, index: string): boolean {
  return sqlState(error) === "23505" && error instanceof Error && "constraint" in error && error.constraint === index;
}

/** Whether the server did not answer within the driver's own time limit, which is longer than the server's. */
export function isSilence(error: unknown): boolean {
  return error instanceof Error && error.message === "Query read timeout";
}

/** Whether this routine of the server refused: one SQLSTATE may have many meanings. */
function comesFrom(error: unknown, routine: string): boolean {
  return error instanceof Error && "routine" in error && error.routine === routine;
}

/** Turns an error of the driver into a Fault, if the caller can act on it. */
export function toFault(error: unknown): unknown {
  if (error instanceof Fault) return error;
  const make = (code: KitFault, message: string, retryAfterMs?: number) =>
    fault(code, message, { ...(retryAfterMs === undefined ? {} : { retryAfterMs }), cause: error });
  switch (sqlState(error)) {
    case diskFull:
      return make("database_full", "the database has no room left on its disk", 5000);
    case lockNotAvailable:
      return make("locked", "another change of the same data is under way; try again", 5000);
    case onlyReads:
      return make("database_unavailable", "the database takes no changes: it is a standby, or set to read only", 1000);
    case queryCanceled:
      return make("database_timeout", "the database took too long: ask for less at once, or try again later");
  }
  if (error instanceof Error && error.message === crowded)
    return make("database_busy", "all connections to the database are in use: try again in a moment", 1000);
  if (breaksConnection(error)) return make("database_unavailable", "the database cannot be reached", 1000);
  if (isRetryable(error))
    return make("concurrent_change", "another change of the same data came first; try again", 1000);
  return error;
}

function sqlState(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : "";
}

const networkCodes = new Set([
  "ECONNREFUSED",
  "ECONNRESET",
  "EPIPE",
  "ETIMEDOUT",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "ENOTFOUND",
  "EAI_AGAIN",
]);

/** A certificate that cannot be accepted, on either side. It is exchanged, and then everything works again. */
const certificateCodes = /CERT|^UNABLE_TO_|^ERR_(?:SSL|TLS)_|^INVALID_(?:CA|PURPOSE)$/;

/** A socket in the file system that is missing or forbidden. Without `connect` these codes are about files. */
const socketCodes = new Set(["ENOENT", "EACCES"]);

/** node-postgres reports these losses only by their message. */
const losses =
  /^(?:Connection terminated|The server does not support SSL|There was an error establishing an SSL|timeout (?:expired$|exceeded when trying to connect)|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/;

/** The pool's message when no connection becomes free in time. No connection is broken then. */
const crowded = "timeout exceeded when trying to connect";

function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (networkCodes.has(code) || certificateCodes.test(code)) return true;
  if (socketCodes.has(code)) return "syscall" in error && error.syscall === "connect";
  return losses.test(error.message);
}
