/** Before anything is measured. */
const usualMs = 0.5;

/** How much the last call counts. */
const weight = 0.2;

/** Fewer scans cost about as much as the call itself, and say nothing about a queue. */
const fewest = 16;

/** Measures how long one scan takes while others wait: the times between the ends of calls, by their scans. */
export class Pace {
  #msPerScan = usualMs;
  #endedAt = Number.NEGATIVE_INFINITY;

  /** Notes the end of a call. All times are on the clock of `performance.now()`. */
  note({ scans, from, to }: { readonly scans: number; readonly from: number; readonly to: number }): void {
    const took = to - Math.max(from, this.#endedAt);
    this.#endedAt = to;
    if (scans < fewest) return;
    this.#msPerScan += weight * (took / scans - this.#msPerScan);
  }

  /** How many scans are decided within so many milliseconds. */
  within(ms: number): number {
    return ms / this.#msPerScan;
  }
}
