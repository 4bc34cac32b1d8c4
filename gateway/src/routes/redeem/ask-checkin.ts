import { setImmediate as nextTurn } from "node:timers/promises";
import { Fault } from "@tessera/kit/fault";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { fault } from "../../faults.ts";
import type { Incoming } from "../../http/route.ts";
import type { Placed } from "../../placed.ts";
import { overloaded } from "./scan-room.ts";

/** A decision; with an explanation it was simulated. */
export interface Decision {
  readonly outcome: ScanOutcome;
  /** JSON. */
  readonly explanation?: Uint8Array;
}

/** Sends a scan to checkin in a call. */
export type Send = (
  scan: Placed<Scan>,
  call: { readonly timeoutMs: number; readonly signal: AbortSignal },
) => Promise<{ readonly outcome: ScanOutcome | undefined; readonly explanation?: Uint8Array }>;

/** Scanners wait a little longer. */
const scanMs = 8000;

/** After an event-loop stall, a closed connection is noticed within these turns. */
const turnsToEnd = 3;

/**
 * Sends a scan to checkin in one call. Without a decision the scanner sends the scan again: by its nonce it is stored
 * once. A scan whose scanner has disconnected is not sent, or not stored any more: the scanner may have got another
 * outcome since.
 */
export async function askCheckin(
  send: Send,
  { scan, request }: { readonly scan: Placed<Scan>; readonly request: Pick<Incoming, "isGone" | "signal"> },
): Promise<Decision> {
  for (let turn = 0; turn < turnsToEnd; turn += 1) await nextTurn();
  if (request.isGone) throw undecided();
  const { signal } = request;
  const { outcome, explanation } = await send(scan, { timeoutMs: scanMs, signal }).catch((error: unknown) => {
    throw toFault(error);
  });
  switch (outcome?.outcome?.$case) {
    case undefined:
    case "undecided":
      throw undecided();
    case "crowded":
      throw overloaded();
    default:
      return { outcome: outcome as ScanOutcome, ...(explanation && { explanation }) };
  }
}

function toFault(error: unknown): Fault {
  if (!(error instanceof Fault)) return undecided(error);
  if (error.code === "message_too_large") return fault("body_too_large", "The answers of this scan are too large.");
  if (error.kind === "invalid") return error;
  return error.kind === "exhausted" ? overloaded() : undecided(error);
}

function undecided(cause?: unknown): Fault {
  return fault("scan_undecided", "This scan could not be decided now; send it again.", { retryAfterMs: 1000, cause });
}
