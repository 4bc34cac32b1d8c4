/** Where the rate is limited, a batch has the scans of so much time. */
const shareMs = 20;

/** Lets batches begin only as fast as their scans keep to a rate. */
export class ScanRate {
  readonly #mostPerSecond: number;
  readonly #onAllowed: () => void;
  /** The rate allows no batch before, by `performance.now`. */
  #notBefore = 0;
  #isWaiting = false;

  /** Calls `onAllowed` when a batch may begin after all. */
  constructor(mostPerSecond: number, onAllowed: () => void) {
    this.#mostPerSecond = mostPerSecond;
    this.#onAllowed = onAllowed;
  }

  /** The most scans of a batch. */
  get batchSize(): number {
    return Math.ceil((this.#mostPerSecond * shareMs) / 1000);
  }

  mayBegin(): boolean {
    const leftMs = this.#notBefore - performance.now();
    if (leftMs > 0) this.#wait(leftMs);
    return leftMs <= 0;
  }

  /** Notes a batch of so many scans. */
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
