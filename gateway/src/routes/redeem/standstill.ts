import { setImmediate as nextTurn } from "node:timers/promises";

const beatMs = 250;

/** No scanner gives up sooner. */
const longMs = 1000;

/** What waited for the process is read within this time. */
const readWithinMs = 1000;

/**
 * Notices that this process stood still: it was frozen, or had no processor.
 *
 * What has arrived meanwhile is read afterwards, and the end of a connection is read in a later turn than the request before it.
 */
export class Standstill {
  #beatAt = performance.now();
  #readAt = 0;

  constructor() {
    setInterval(() => this.#beat(), beatMs).unref();
  }

  /** Resolves when it is known of each request that was read whether its connection has ended; undefined: it is known. */
  untilKnown(): Promise<void> | undefined {
    const now = performance.now();
    return now - this.#beatAt > longMs || now < this.#readAt ? takeTurns() : undefined;
  }

  #beat(): void {
    const now = performance.now();
    if (now - this.#beatAt > longMs) this.#readAt = now + readWithinMs;
    this.#beatAt = now;
  }
}

/** The end is read in the first or second one; the third one comes after that. */
async function takeTurns(): Promise<void> {
  await nextTurn();
  await nextTurn();
  await nextTurn();
}
