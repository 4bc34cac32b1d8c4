import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { fault } from "../../faults.ts";
import type { Incoming } from "../../http/route.ts";
import { overloaded } from "./scan-room.ts";

/** A decision; with an explanation it was simulated. */
export interface Decision {
  readonly outcome: ScanOutcome;
  /** JSON. */
  readonly explanation?: Uint8Array;
}

export interface SendOptions {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** Sends a scan to checkin in a call. */
export type Send = (
  call: SendOptions,
) => Promise<{ readonly outcome: ScanOutcome | undefined; readonly explanation?: Uint8Array }>;

/** Scanners wait a little longer. */
const scanMs = 8000;

/** After an event-loop stall, a closed connection is noticed within these turns. */
const turnsToEnd = 3;

/**
 * Sends a scan to checkin in one call. Without a decision the scanner sends the scan again: by its nonce it is stored
 * once.
 */
export async function askCheckin(request: Pick<Incoming, "isGone" | "signal">, send: Send): Promise<Decision> {
  const { outcome, explanation } = await callCheckin(request, (signal) => send({ timeoutMs: scanMs, signal }));
  return { outcome: requireDecision(outcome), ...(explanation && { explanation }) };
}

/** Throws unless there is a decision. */
export function requireDecision(outcome: ScanOutcome | undefined): ScanOutcome {
  if (outcome?.outcome === undefined || outcome.outcome.$case === "undecided") throw undecided();
  if (outcome.outcome.$case === "crowded") throw overloaded();
  return outcome;
}

/** Throws if a list of the scan was deleted since it was looked up. */
export function requireList(outcome: ScanOutcome | undefined): void {
  if (outcome?.outcome?.$case !== "unknownList") return;
  const message = "One of these check-in lists was deleted.";
  throw fault("invalid_body", message, { fields: { lists: [message] } });
}

/**
 * Calls checkin with what a scanner has sent. If the scanner has disconnected, nothing is sent, or nothing more is stored: it
 * may have got another outcome since.
 */
export async function callCheckin<T>(
  request: Pick<Incoming, "isGone" | "signal">,
  call: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  for (let turn = 0; turn < turnsToEnd; turn += 1) await nextTurn();
  if (request.isGone) throw undecided();
  return call(request.signal).catch((error: unknown) => {
    throw toFault(error);
  });
}

function toFault(error: unknown): Fault {
  if (!(error instanceof Fault)) return undecided(error);
  if (error.code === "message_too_large") return fault("body_too_large", "The answers of these scans are too large.");
  if (error.kind === "invalid") return error;
  return error.kind === "exhausted" ? overloaded() : undecided(error);
}

function undecided(cause?: unknown): Fault {
  return fault("scan_undecided", "This scan could not be decided now; send it again.", { retryAfterMs: 1000, cause });
}
