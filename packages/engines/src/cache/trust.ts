/** A circuit breaker for something that is useful but not necessary. */
export interface Trust {
  /** False: the breaker is open; do not use it now. */
  readonly isGiven: boolean;
  /** Notes a success. */
  kept(): void;
  /** Notes a failure or a late answer. A few in a row open the breaker. */
  broken(error: unknown): void;
  /** Opens the breaker at once. */
  withdraw(error: unknown): void;
  /** Closes the breaker, if its rest is over. */
  renew(): void;
  /** Closes the breaker at once, for a new connection. */
  restore(): void;
}

/** A single late answer may be an accident. Three in a row cost a caller less than a quarter of a second. */
const patience = 3;

/** The rest doubles until the next success. */
const firstRestMs = 1000;
const longestRestMs = 30_000;

/** Makes a circuit breaker: callers do not wait for what does not work; its owner retries it in the background. */
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
