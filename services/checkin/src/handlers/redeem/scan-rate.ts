/** A limited rate is divided into batches of this much time. */
const shareMs = 20;

/** Limits the rate of scans by delaying batches. */
export class ScanRate {
  readonly #mostPerSecond: number;
  readonly #onAllowed: () => void;
  /** The earliest begin of the next batch, by `performance.now`. */
  #notBefore = 0;
  #isWaiting = false;

  /** Calls `onAllowed` when a delayed batch may begin. */
  constructor(mostPerSecond: number, onAllowed: () => void) {
    this.#mostPerSecond = mostPerSecond;
    this.#onAllowed = onAllowed;
  }

  get batchSize(): number {
    return Math.ceil((this.#mostPerSecond * shareMs) / 1000);
  }

  mayBegin(): boolean {
    const leftMs = this.#notBefore - performance.now();
    if (leftMs > 0) this.#wait(leftMs);
    return leftMs <= 0;
  }

  /** Counts a batch against the rate. */
  begin(scans: number): void {
    this.#notBefore = performance.now() + (scans * 1000) / this.#mostPerSecond;
  }

  #wait(ms: number): void {
    if (this.#isWaiting) return;
    this.#isWaiting = true;
    setTimeout(() => {
      this.#isWaiting = false;
      this.#onAllowed();
    }, ms);
  }
}
