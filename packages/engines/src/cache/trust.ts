/** Decides whether to use something that is useful but not necessary. */
export interface Trust {
  /** False: do not use it now. */
  readonly isGiven: boolean;
  /** Notes a success. */
  kept(): void;
  /** Notes a failure or a late answer. After a few in a row the trust ends. */
  broken(error: unknown): void;
  /** Ends the trust at once. */
  withdraw(error: unknown): void;
  /** Trusts it again, if its rest is over. */
  renew(): void;
  /** Trusts it again at once, because it is a new connection. */
  restore(): void;
}

/** A single late answer may be an accident. Three in a row cost a caller less than a quarter of a second. */
const patience = 3;

/** The rest doubles until the next success. */
const firstRestMs = 1000;
const longestRestMs = 30_000;

/**
 * Keeps callers from waiting for something that does not work: they know at once not to use it. Its owner tries it again
 * in the background.
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
