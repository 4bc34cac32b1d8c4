/** Lets only so many pieces of work run at a time. */
export class Slots {
  #free: number;
  readonly #waiting: (() => void)[] = [];

  constructor(count: number) {
    this.#free = count;
  }

  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free === 0) await new Promise<void>((resolve) => void this.#waiting.push(resolve));
    else this.#free -= 1;
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      // The slot is handed over, so that nobody who comes now overtakes whoever waits.
      if (next === undefined) this.#free += 1;
      else next();
    }
  }
}
