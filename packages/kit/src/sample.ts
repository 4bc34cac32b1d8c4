import type { Clock } from "./clock.ts";

/** What is older is not reported: a series that is missing says more than one that has stopped. */
const longestMicros = 30_000_000;

/** What was measured last, for metrics that a scrape only reads. */
export interface Sample<T> {
  keep(value: T): void;
  /** Throws where nothing was measured lately. */
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
