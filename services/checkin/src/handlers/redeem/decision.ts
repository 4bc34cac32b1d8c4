import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";

/** No ticket here has the code, and boxoffice was not asked for it yet. */
export const unknownYet = Symbol("unknown yet");

/** Another scan of this very batch changes the ticket first; this one is decided again in the next batch. */
export const queuedBehind = Symbol("queued behind");

/** Another transaction came first; the scan is decided again, with growing pauses. */
export const conflict = Symbol("conflict");

/** What a batch says of a scan. */
export type Decision = ScanOutcome | typeof unknownYet | typeof queuedBehind | typeof conflict;

/** What a caller is answered. */
export type Answer = ScanOutcome | typeof unknownYet;
