import type { Fault } from "@tessera/kit/fault";

/** How much may be under way at a time, in units of the caller's choice. */
export interface TurnLimits {
  readonly total: number;
  /** What one party may have of it, so that nobody keeps all others waiting. */
  readonly each: number;
  /** How long anybody waits for a turn. */
  readonly waitMs: number;
  /** What they are told who have waited so long. */
  readonly busy: () => Fault;
}

export interface TurnRequest {
  /** Whose share it counts towards. */
  readonly party: string;
  /** No more than a party may have. */
  readonly amount: number;
  /** Gives up waiting when it aborts. */
  readonly signal: AbortSignal;
}

/** What somebody may do until it is ended; ending it twice is ending it once. */
export interface Turn {
  /** Says how much it is after all. */
  resize(amount: number): void;
  end(): void;
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
  async run<T>(request: TurnRequest, work: () => Promise<T>): Promise<T> {
    await this.#wait(request);
    const turn = this.#turn(request);
    try {
      return await work();
    } finally {
      turn.end();
    }
  }

  /** Waits for a turn, which its caller passes on. */
  async take(request: TurnRequest): Promise<Turn> {
    await this.#wait(request);
    return this.#turn(request);
  }

  #turn({ party, amount }: TurnRequest): Turn {
    let held = amount;
    let ended = false;
    const resize = (wanted: number) => {
      if (ended) return;
      this.#count(party, wanted - held);
      held = wanted;
      this.#beginWaiting();
    };
    return {
      resize,
      end() {
        resize(0);
        ended = true;
      },
    };
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
      const timer = setTimeout(() => giveUp(this.#limits.busy()), this.#limits.waitMs);
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
