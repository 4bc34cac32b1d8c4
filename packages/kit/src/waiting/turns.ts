import { Counts } from "./counts.ts";

/** How much may run at a time, in units of the caller's choice. */
export interface TurnLimits {
  readonly total: number;
  /** The share of one party, so that it cannot block all others. */
  readonly each: number;
  readonly waitMs: number;
  /** How many requests of one party may wait; by default any number. */
  readonly queue?: number;
  /** The error after that time, and for a request that finds so many of its party waiting. */
  readonly busy: () => Error;
}

export interface TurnRequest {
  /** The party whose share it uses. */
  readonly party: string;
  /** No more than a party may have. */
  readonly amount: number;
  /** Gives up waiting when it aborts. */
  readonly signal?: AbortSignal | undefined;
}

/** Capacity that is held until `end`; a second `end` has no effect. */
export interface Turn {
  /** Changes the amount that is held. */
  resize(amount: number): void;
  end(): void;
}

interface Waiting {
  readonly party: string;
  readonly amount: number;
  readonly begin: () => void;
}

/**
 * A semaphore with a limit in total and one for each party. Parties take turns, each in the order of its own requests:
 * however much one party wants, another one waits for a single turn of it, which may be under way already.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #taken = new Counts();
  #total = 0;
  /** By party, each in the order of arrival. The party whose last turn, or arrival, is longest ago comes first. */
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /** How many requests wait. */
  get waiting(): number {
    return Iterator.from(this.#waiting.values()).reduce((sum, each) => sum + each.length, 0);
  }

  async run<T>(request: TurnRequest, work: () => Promise<T>): Promise<T> {
    await this.#wait(request);
    const turn = this.#turn(request);
    try {
      return await work();
    } finally {
      turn.end();
    }
  }

  /** Waits for a turn, which the caller ends. */
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
      end: () => {
        if (!ended) this.#queue(party, this.#waiting.get(party) ?? []);
        resize(0);
        ended = true;
      },
    };
  }

  #wait({ party, amount, signal }: TurnRequest): Promise<void> {
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const before = this.#waiting.get(party) ?? [];
      if (before.length >= (this.#limits.queue ?? Number.POSITIVE_INFINITY)) throw this.#limits.busy();
      const settle = () => {
        clearTimeout(timer);
        signal?.removeEventListener("abort", leave);
      };
      const begin = () => {
        settle();
        this.#count(party, amount);
        resolve();
      };
      const waiting: Waiting = { party, amount, begin };
      const giveUp = (reason: Error) => {
        settle();
        const others = (this.#waiting.get(party) ?? []).filter((other) => other !== waiting);
        if (others.length > 0) this.#waiting.set(party, others);
        else this.#waiting.delete(party);
        // Smaller requests behind it may fit now.
        this.#beginWaiting();
        reject(reason);
      };
      const leave = () => giveUp(signal?.reason as Error);
      const timer = setTimeout(() => giveUp(this.#limits.busy()), this.#limits.waitMs);
      signal?.addEventListener("abort", leave);
      before.push(waiting);
      this.#waiting.set(party, before);
      this.#beginWaiting();
    });
  }

  /**
   * Starts what fits. A request that the total limit blocks also blocks those behind it, or smaller ones would starve it.
   * A request that its own party's limit blocks is skipped: only its party has to wait.
   */
  #beginWaiting(): void {
    for (let next = this.#findNext(); next !== undefined; next = this.#findNext()) {
      const { party } = next;
      const [, ...others] = this.#waiting.get(party) ?? [];
      this.#queue(party, others);
      next.begin();
    }
  }

  /** Puts a party that has its turn, or has had it, behind all others. */
  #queue(party: string, waiting: Waiting[]): void {
    this.#waiting.delete(party);
    if (waiting.length > 0) this.#waiting.set(party, waiting);
  }

  /** The first request of the party whose turn is next, if it fits. */
  #findNext(): Waiting | undefined {
    for (const [party, [waiting]] of this.#waiting) {
      if (waiting === undefined || this.#taken.of(party) + waiting.amount > this.#limits.each) continue;
      return this.#total + waiting.amount > this.#limits.total ? undefined : waiting;
    }
    return undefined;
  }

  #count(party: string, amount: number): void {
    this.#total += amount;
    this.#taken.add(party, amount);
  }
}
