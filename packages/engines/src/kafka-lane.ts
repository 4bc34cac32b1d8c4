import { setMaxListeners } from "node:events";
import { backoff } from "@tessera/kit/backoff";
import type { Delivery } from "@tessera/kit/bus/bus";
import { pause } from "@tessera/kit/pause";

/** What was fetched of a partition at once. */
export interface Fetched {
  readonly deliveries: readonly Delivery[];
  /** The offset behind them, and behind whatever else was fetched with them. */
  readonly next: string;
}

export interface Lane {
  /** Delivers in its turn; tells whether all of it was accepted. */
  add(fetched: Fetched): Promise<boolean>;
  /** Drops what waits and aborts the delivery under way: the partition may belong to another process now. */
  reset(): void;
  /** Settles when nothing is under way, and what was accepted is committed or cannot be. */
  idle(): Promise<void>;
}

/** Enough to make a consumer's transaction worth its round trips; what was fetched at once may be thousands. */
const mostMessages = 500;

const pauses = { firstMs: 20, longestMs: 5000 };

/**
 * Delivers what comes of one partition: one delivery at a time, in order, each until it is accepted. A delivery that was
 * given up is waited for before the next one begins, for it may still be at work on the same keys.
 */
export function createLane(options: {
  deliver(deliveries: readonly Delivery[], signal: AbortSignal): Promise<void>;
  /** Remembers that everything before an offset was accepted. Not awaited: what is not committed comes again. */
  commit(offset: string): Promise<void>;
  onRefusal(error: unknown): void;
  closing: AbortSignal;
}): Lane {
  const { deliver, commit, onRefusal, closing } = options;
  let tail: Promise<unknown> = Promise.resolve();
  let committed: Promise<void> = Promise.resolve();
  let era = new AbortController();

  async function untilAccepted(deliveries: readonly Delivery[], signal: AbortSignal): Promise<boolean> {
    for (let refused = 1; !signal.aborted; refused += 1) {
      try {
        await deliver(deliveries, signal);
        return true;
      } catch (error) {
        if (signal.aborted) return false;
        onRefusal(error);
        await pause(backoff(pauses, refused), signal);
      }
    }
    return false;
  }

  async function run({ deliveries, next }: Fetched, revoked: AbortSignal): Promise<boolean> {
    const signal = AbortSignal.any([revoked, closing]);
    setMaxListeners(0, signal);
    for (let start = 0; start < deliveries.length; start += mostMessages) {
      if (!(await untilAccepted(deliveries.slice(start, start + mostMessages), signal)) || revoked.aborted)
        return false;
      committed = commit(deliveries[start + mostMessages]?.place?.offset ?? next);
    }
    return true;
  }

  return {
    add(fetched) {
      const { signal } = era;
      const turn = tail.then(() => run(fetched, signal));
      tail = turn.catch(() => {});
      return turn;
    },
    reset() {
      era.abort();
      era = new AbortController();
    },
    async idle() {
      await tail;
      await committed;
    },
  };
}
