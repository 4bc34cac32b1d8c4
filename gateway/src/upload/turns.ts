import { Fault } from "@tessera/kit/fault";

/** How much may be under way at a time, in units of the caller's choice. */
export interface TurnLimits {
  readonly total: number;
  /** What one party may have of it, so that nobody keeps all others waiting. */
  readonly each: number;
  /** How long anybody waits for a turn. */
  readonly waitMs: number;
}

export interface TurnRequest {
  /** Whose share it counts towards. */
  readonly party: string;
  /** No more than a party may have. */
  readonly amount: number;
  /** Gives up waiting when it aborts. */
  readonly signal: AbortSignal;
}

interface Waiting {
  readonly party: string;
  readonly amount: number;
  readonly begin: () => void;
}

/** Lets work begin in the order in which it came, as far as limits allow. */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #taken = new Map<string, number>();
  #total = 0;
  #waiting: Waiting[] = [];

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** Waits for a turn, does the work, and passes the turn on. */
  async run<T>({ party, amount, signal }: TurnRequest, work: () => Promise<T>): Promise<T> {
    await this.#wait({ party, amount, signal });
    try {
      return await work();
    } finally {
      this.#count(party, -amount);
      this.#beginWaiting();
    }
  }

  #wait({ party, amount, signal }: TurnRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      const settle = () => {
        clearTimeout(timer);
        signal.removeEventListener("abort", leave);
      };
      const begin = () => {
        settle();
        this.#count(party, amount);
        resolve();
      };
      const waiting: Waiting = { party, amount, begin };
      const giveUp = (reason: Error) => {
        settle();
        this.#waiting = this.#waiting.filter((other) => other !== waiting);
        // Smaller ones may have stood behind it.
        this.#beginWaiting();
        reject(reason);
      };
      const leave = () => giveUp(signal.reason as Error);
      const timer = setTimeout(() => giveUp(busy()), this.#limits.waitMs);
      signal.addEventListener("abort", leave);
      this.#waiting.push(waiting);
      this.#beginWaiting();
    });
  }

  /** Who waits for others passes nobody; who waits for his own party is passed. */
  #beginWaiting(): void {
    const still: Waiting[] = [];
    let isFull = false;
    for (const waiting of this.#waiting) {
      const { party, amount, begin } = waiting;
      const own = (this.#taken.get(party) ?? 0) + amount;
      if (isFull || own > this.#limits.each) still.push(waiting);
      else if (this.#total + amount > this.#limits.total) {
        isFull = true;
        still.push(waiting);
      } else begin();
    }
    this.#waiting = still;
  }

  #count(party: string, amount: number): void {
    this.#total += amount;
    const left = (this.#taken.get(party) ?? 0) + amount;
    if (left === 0) this.#taken.delete(party);
    else this.#taken.set(party, left);
  }
}

function busy(): Fault {
  return new Fault("unavailable", "uploads_busy", "Too many files are being sent at once. Send this one again soon.", {
    retryAfterMs: 5000,
  });
}
