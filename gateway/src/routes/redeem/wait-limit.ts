/** A scan that would wait longer is better refused at once: its scanner sends it again, or decides alone. */
const inBurstMs = 200;

/** In a crowd that stays no more scans are decided if each waits longer; so those that are admitted wait less. */
const inCrowdMs = 100;

/** A shorter wait is no crowd. */
const calmMs = 50;

/** So much comes at once where doors open, or a network is back. */
const burstMs = 1000;

/** Decides how long a scan may wait for others. */
export class WaitLimit {
  #calmAt = Number.NEGATIVE_INFINITY;

  /** The limit while a scan would wait so long. The time is on the clock of `performance.now()`, and never goes back. */
  whereWaitIs(waitMs: number, now: number): number {
    if (waitMs < calmMs) this.#calmAt = now;
    return now - this.#calmAt < burstMs ? inBurstMs : inCrowdMs;
  }
}
