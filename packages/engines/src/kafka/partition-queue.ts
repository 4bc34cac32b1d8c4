import { setMaxListeners } from "node:events";
import type { Delivery } from "@tessera/kit/bus/bus";
import { backoff } from "@tessera/kit/waiting/backoff";
import { pause } from "@tessera/kit/waiting/pause";

export interface Fetched {
  readonly deliveries: readonly Delivery[];
  /** The offset after all messages of the fetch. */
  readonly next: string;
}

export interface PartitionQueue {
  /** Delivers after the earlier fetches; resolves to whether all messages were accepted. */
  add(fetched: Fetched): Promise<boolean>;
  /** Drops waiting messages and aborts the running delivery: the partition may belong to another process now. */
  reset(): void;
  /** Resolves when no delivery runs, and all commits have succeeded or failed. */
  idle(): Promise<void>;
}

/** Enough to be worth a transaction of a consumer. One fetch may have thousands, or very large ones. */
const mostMessages = 500;
const mostBytes = 1024 * 1024;

const pauses = { firstMs: 20, longestMs: 5000 };

/**
 * Delivers the messages of one partition: one delivery at a time, in order, each repeated until it is accepted. The
 * next delivery waits for an aborted one, too, which may still work on the same keys.
 */
export function createPartitionQueue(options: {
  deliver(deliveries: readonly Delivery[], signal: AbortSignal): Promise<void>;
  /** Commits an offset. It is not awaited: uncommitted messages are delivered again. */
  commit(offset: string): Promise<void>;
  onRefusal(error: unknown): void;
  closing: AbortSignal;
}): PartitionQueue {
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
    for (let start = 0; start < deliveries.length; ) {
      const end = endOfPart(deliveries, start);
      if (!(await untilAccepted(deliveries.slice(start, end), signal)) || revoked.aborted) return false;
      committed = commit(deliveries[end]?.place?.offset ?? next);
      start = end;
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

/** The end index of the messages that are delivered together: at least one. */
function endOfPart(deliveries: readonly Delivery[], start: number): number {
  let bytes = deliveries[start]?.value?.byteLength ?? 0;
  let end = start + 1;
  for (; end < deliveries.length && end - start < mostMessages; end += 1) {
    bytes += deliveries[end]?.value?.byteLength ?? 0;
    if (bytes > mostBytes) break;
  }
  return end;
}
