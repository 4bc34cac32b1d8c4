import { type Attempt, toCourses } from "./scan-history.ts";

/** A period on the clock of `performance.now()`. */
export interface Span {
  readonly from: number;
  readonly to: number;
}

/** The longest time within a span in which no gate learned the outcome of a scan, in milliseconds. */
export function longestSilenceMs(attempts: readonly Attempt[], { from, to }: Span): number {
  const ends = attempts
    .filter(({ outcome, endedAt }) => isCertain(outcome.kind) && endedAt > from && endedAt < to)
    .map(({ endedAt }) => endedAt)
    .sort((a, b) => a - b);
  const moments = [from, ...ends, to];
  return Math.round(Math.max(...moments.slice(1).map((moment, index) => moment - (moments[index] ?? from))));
}

/** The longest time from the first try of a scan to its outcome, of scans begun within a span. */
export function slowestScanMs(attempts: readonly Attempt[], { from, to }: Span): number {
  const begun = toCourses(attempts).filter((course) => course.from >= from && course.from < to);
  return Math.round(Math.max(0, ...begun.map((course) => course.to - course.from)));
}

/** Answers that gates must not get while everything that they need runs. */
export function findUncertain(attempts: readonly Attempt[], { from, to }: Span): string[] {
  return attempts
    .filter(({ outcome, invokedAt }) => outcome.kind === "unknown" && invokedAt >= from && invokedAt < to)
    .map(
      ({ scan, outcome, invokedAt, endedAt }) =>
        `scan ${scan.nonce}, ${Math.round(invokedAt - from)} to ${Math.round(endedAt - from)} ms: ${JSON.stringify(outcome)}`,
    );
}

/** When the process at an address was stopped, and when it answered again. */
export interface Stop extends Span {
  readonly baseUrl: string;
}

/**
 * Whether a connection ended during an attempt because its process was stopped. HTTP cannot avoid this on an idle
 * connection: the server may close it while the next request is in flight.
 */
export function isCutByStop({ baseUrl, outcome, endedAt }: Attempt, stops: readonly Stop[]): boolean {
  if (outcome.kind !== "unknown" || !/^(?:ECONNRESET|EPIPE|UND_ERR_SOCKET) /.test(outcome.why)) return false;
  return stops.some((stop) => stop.baseUrl === baseUrl && endedAt >= stop.from && endedAt < stop.to);
}

function isCertain(kind: Attempt["outcome"]["kind"]): boolean {
  return kind === "admitted" || kind === "refused";
}
