import type { Clock } from "../clock.ts";

/** Older values are not reported: a missing series shows more than one that has stopped. */
const longestMicros = 30_000_000;

/** The last measurement, for metrics that a scrape only reads. */
export interface Sample<T> {
  keep(value: T): void;
  /** Throws when the last measurement is too old. */
  read(): T;
}

export function keepSample<T>(clock: Clock): Sample<T> {
  let kept: { readonly value: T; readonly at: number } | undefined;
  return {
    keep(value) {
      kept = { value, at: clock.now() };
    },
    read() {
      if (kept === undefined || clock.now() - kept.at > longestMicros) throw new Error("nothing was measured lately");
      return kept.value;
    },
  };
}
