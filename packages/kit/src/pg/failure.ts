import { Fault } from "../fault.ts";
import { fault } from "../faults.ts";

/** SQLSTATEs after which the same transaction may well succeed. */
const retryable = new Set(["40001", "40P01"]);

/**
 * The server is there but not for us now. Whole classes: connections (08), resources such as disk and memory (53), the
 * operating system (58); and shutting down (57P), limits on waiting for us (25P), a standby that only reads (25006).
 */
const unavailable = /^(?:08...|53...|58...|57P0[1-5]|25P0[34]|25006)$/;

/** The connection prepared the statement before a migration changed its columns; another one has yet to prepare it. */
const outdatedPlan = "RevalidateCachedQuery";

/** A row was on its way to the default partition when the partition for it was attached. */
const partitionCameBetween = "ExecPartitionCheckEmitError";

const lockNotAvailable = "55P03";
const queryCanceled = "57014";

/** Whether the transaction lost to a concurrent one and should simply run again. */
export function isRetryable(error: unknown): boolean {
  return retryable.has(sqlState(error)) || comesFrom(error, outdatedPlan) || comesFrom(error, partitionCameBetween);
}

/** Whether the connection can no longer be trusted after this error. */
export function breaksConnection(error: unknown): boolean {
  return unavailable.test(sqlState(error)) || isConnectionLoss(error) || comesFrom(error, outdatedPlan);
}

/** Whether this place in the server refused: where one SQLSTATE stands for many things. */
function comesFrom(error: unknown, routine: string): boolean {
  return error instanceof Error && "routine" in error && error.routine === routine;
}

/** Turns what the driver throws into a Fault where somebody can act on it. */
export function toFault(error: unknown): unknown {
  if (error instanceof Fault) return error;
  const state = sqlState(error);
  if (state === lockNotAvailable) {
    return fault("locked", "another change of the same data is under way; try again", {
      retryAfterMs: 5000,
      cause: error,
    });
  }
  if (state === queryCanceled) {
    const message = "the database took too long: ask for less at once, or try again later";
    return fault("database_timeout", message, { cause: error });
  }
  if (isCrowded(error)) {
    const message = "all connections to the database are in use: try again in a moment";
    return fault("database_busy", message, { retryAfterMs: 1000, cause: error });
  }
  if (breaksConnection(error)) {
    return fault("database_unavailable", "the database cannot be reached", {
      retryAfterMs: 1000,
      cause: error,
    });
  }
  if (isRetryable(error)) {
    return fault("concurrent_change", "another change of the same data came first; try again", {
      retryAfterMs: 1000,
      cause: error,
    });
  }
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

/** A socket in the file system that is not there or not ours; elsewhere these codes are about files. */
const socketCodes = new Set(["ENOENT", "EACCES"]);

/** node-postgres reports these losses by message only. */
const losses =
  /^(?:Connection terminated|timeout (?:expired$|exceeded when trying to connect)|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after)/;

/** The pool's own words where no connection came back in time; it has none to lose then. */
const crowded = "timeout exceeded when trying to connect";

function isCrowded(error: unknown): boolean {
  return error instanceof Error && error.message === crowded;
}

function isConnectionLoss(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  if (networkCodes.has(code)) return true;
  if (socketCodes.has(code)) return "syscall" in error && error.syscall === "connect";
  return losses.test(error.message);
}
