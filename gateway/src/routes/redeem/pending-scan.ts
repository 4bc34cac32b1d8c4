import type { Expiring } from "@tessera/kit/expiry";
import { Fault } from "@tessera/kit/fault";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { fault } from "../../faults.ts";

/** A scan whose scanner waits for its outcome. */
export interface PendingScan extends Expiring {
  readonly scan: Scan;
  /** Names who sent it. */
  readonly credential: string;
  /** Names its code on its list. */
  readonly code: string;
  readonly bytes: number;
  /** By `performance.now`. */
  readonly arrivedAt: number;
  /** Milliseconds since 1970. */
  readonly until: number;
  readonly isGone: () => boolean;
  /** It was answered or refused. */
  isOver: boolean;
  resolve(outcome: ScanOutcome): void;
  reject(cause: Error): void;
}

/** Whether the scanner still waits for a scan; if not, it is refused without having been sent. */
export function isInTime(waiting: PendingScan): boolean {
  // Its timer may be ahead of the clock, which can be set back. Sent now, it would never let the next scan of its code go.
  if (waiting.isOver) return false;
  if (waiting.until > Date.now() && !waiting.isGone()) return true;
  waiting.reject(undecided());
  return false;
}

/** A younger scan need not say so. */
const youngMs = 100;

/** The scan as it is sent now: with its age, so that checkin tells an old sending from a new one. */
export function withAge({ scan, arrivedAt }: PendingScan): Scan {
  const ageMs = Math.round(performance.now() - arrivedAt);
  return ageMs < youngMs ? scan : { ...scan, ageMs };
}

export function nameCode({ organizer, event, list, lookup }: Scan): string {
  return `${organizer}/${event}/${list} ${lookup}`;
}

/** The most bytes that a scan may have in a message: all of its texts that have no bound of their own. */
export function weigh({ lookup, nonce = "", answers }: Scan): number {
  const characters = answers.reduce((sum, { value }) => sum + value.length + 500, lookup.length + nonce.length);
  return 3 * characters + 500;
}

/** No decision was made: the scanner may repeat the scan. */
export function undecided(cause?: unknown): Fault {
  return fault("scan_undecided", "This scan could not be decided now; send it again.", {
    retryAfterMs: 1000,
    cause,
  });
}

export function overloaded(): Fault {
  return fault("too_many_redeems", "More scans are waiting than can be decided; send it again.", {
    retryAfterMs: 1000,
  });
}

export function tooLarge(): Fault {
  return fault("body_too_large", "The answers of this scan are too large.");
}

export function isTooLarge(error: unknown): boolean {
  return error instanceof Fault && error.code === "message_too_large";
}
