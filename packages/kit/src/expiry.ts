/** What expires at a time, on the clock of `performance.now()`. */
export interface Expiring {
  readonly expiresAt: number;
}

/**
 * Waits for things that all have the same time from their arrival, with one timer for all of them: a timer for each of
 * thousands that nearly always end before costs more than the rest of their keeping.
 */
export class Expiry<T extends Expiring> {
  /** In the order of their arrival, so the first one expires first. */
  readonly #waiting = new Set<T>();
  readonly #expire: (item: T) => void;
  #timer: NodeJS.Timeout | undefined;

  constructor(expire: (item: T) => void) {
    this.#expire = expire;
  }

  add(item: T): void {
    this.#waiting.add(item);
    this.#timer ??= this.#waitFor(item);
  }

  delete(item: T): void {
    this.#waiting.delete(item);
    if (this.#waiting.size > 0) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #waitFor({ expiresAt }: T): NodeJS.Timeout {
    return setTimeout(() => this.#expireDue(), Math.max(1, expiresAt - performance.now()));
  }

  #expireDue(): void {
    this.#timer = undefined;
    const now = performance.now();
    for (const item of this.#waiting) {
      if (item.expiresAt > now) {
        this.#timer = this.#waitFor(item);
        return;
      }
      this.#waiting.delete(item);
      this.#expire(item);
    }
  }
}
