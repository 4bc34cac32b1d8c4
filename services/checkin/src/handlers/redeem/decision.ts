import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** No ticket here has the code, and boxoffice was not asked for it yet. */
export const unknownYet = Symbol("unknown yet");

/** An earlier scan of this batch changes the ticket; this scan is decided again in the next batch. */
export const queuedBehind = Symbol("queued behind");

/** Another transaction came first; the scan is decided again, with backoff. */
export const conflict = Symbol("conflict");

export type Decision = ScanOutcome | typeof unknownYet | typeof queuedBehind | typeof conflict;

export type Answer = ScanOutcome | typeof unknownYet;
