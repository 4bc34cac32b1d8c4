/** Before anything is measured. */
const usualMs = 1;

/** How far back it looks: what came in the last so many milliseconds counts most. */
const memoryMs = 100;

/** Fewer scans cost about as much as the call itself, and say nothing about a queue. */
const fewest = 16;

/** Calls that have not ended for so long say that scans take long. Until then to wait is better than to come again a second later. */
const longMs = 1000;

/** A call under way. */
export interface TimedCall {
  /** Its scans are decided. */
  end(): void;
  /** It says nothing of its scans. */
  fail(): void;
}

/** Measures how long one scan takes while others wait: the times between the ends of calls, by their scans. */
export class Pace {
  #msPerScan = usualMs;
  /** Scans of calls under way. */
  #underWay = 0;
  /** Since then calls are under way, and none has ended. All times are on the clock of `performance.now()`. */
  #since = 0;
  #endedAt = Number.NEGATIVE_INFINITY;

  /** Notes that a call begins. */
  begin(scans: number): TimedCall {
    const from = performance.now();
    if (this.#underWay === 0) this.#since = from;
    this.#underWay += scans;
    const leave = () => {
      this.#underWay -= scans;
      this.#since = performance.now();
    };
    return {
      end: () => {
        leave();
        this.#note(scans, from);
      },
      fail: leave,
    };
  }

  /** How many scans are decided within so many milliseconds. */
  within(ms: number): number {
    return ms / Math.max(this.#msPerScan, this.#leastMsPerScan());
  }

  /** What calls under way say, however fast those before them were. */
  #leastMsPerScan(): number {
    if (this.#underWay < fewest) return 0;
    const took = performance.now() - this.#since;
    return took < longMs ? 0 : took / this.#underWay;
  }

  #note(scans: number, from: number): void {
    const now = performance.now();
    const took = now - Math.max(from, this.#endedAt);
    this.#endedAt = now;
    if (scans < fewest) return;
    this.#msPerScan += (1 - Math.exp(-took / memoryMs)) * (took / scans - this.#msPerScan);
  }
}
