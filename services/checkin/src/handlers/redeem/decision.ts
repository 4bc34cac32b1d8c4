import type { LinkMediumRequest } from "@tessera/protos/gen/ticketing/boxoffice/v1/media";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** No ticket here has the code, and boxoffice was not asked for it yet. */
export const unknownYet = Symbol("unknown yet");

/** An earlier scan of this batch changes the ticket; this scan is decided again in the next batch. */
export const queuedBehind = Symbol("queued behind");

/** Another transaction came first; the scan is decided again, with backoff. */
export const conflict = Symbol("conflict");

/** Boxoffice has to link a medium to the ticket before the scan is decided. */
export interface ToLink {
  readonly toLink: LinkMediumRequest;
}

export type Decision = Answer | typeof queuedBehind | typeof conflict;

export type Answer = ScanOutcome | ToLink | typeof unknownYet;

/** Whether a scan has its outcome; else it is decided again. */
export function isOutcome(decision: Decision): decision is ScanOutcome {
  return typeof decision !== "symbol" && !("toLink" in decision);
}
