/** Whether something that is good but not needed is asked at the moment. */
export interface Trust {
  /** False: leave it alone. */
  readonly isGiven: boolean;
  /** Notes that it did what was asked. */
  kept(): void;
  /** Notes that it did not, or not in time; after a few times in a row it is left alone. */
  broken(error: unknown): void;
  /** Leaves it alone from now on. */
  withdraw(error: unknown): void;
  /** Gives it another chance, unless it has not been left alone long enough. */
  renew(): void;
  /** Gives it another chance at once, because it is another one. */
  restore(): void;
}

/** One late answer may be a hiccup on either side; three in a row cost a caller less than a quarter of a second. */
const patience = 3;

/** Doubled while nothing it was asked has worked since. */
const firstRestMs = 1000;
const longestRestMs = 30_000;

/**
 * Keeps callers from paying for something that has gone bad: callers
 * learn at once not to ask. The owner asks again in the background.
 */
export function createTrust({
  onWithdrawn,
  now = () => performance.now(),
}: {
  onWithdrawn: (error: unknown) => void;
  now?: () => number;
}): Trust {
  let given = true;
  let strikes = 0;
  let restMs = firstRestMs;
  let restUntil = 0;
  const withdraw = (error: unknown) => {
    if (!given) return;
    given = false;
    restUntil = now() + restMs;
    restMs = Math.min(longestRestMs, restMs * 2);
    onWithdrawn(error);
  };
  const restore = () => {
    given = true;
    strikes = 0;
  };
  return {
    get isGiven() {
      return given;
    },
    kept() {
      strikes = 0;
      restMs = firstRestMs;
    },
    broken(error) {
      strikes += 1;
      if (strikes >= patience) withdraw(error);
    },
    withdraw,
    renew() {
      if (!given && now() >= restUntil) restore();
    },
    restore,
  };
}
