import { setTimeout as sleep } from "node:timers/promises";

/** Remembers that everything before an offset of a partition was accepted; resolves when that is known or in vain. */
export type CommitOffset = (partition: number, offset: string) => Promise<void>;

/** A request costs a broker as much as a publication. After a crash the facts of this time are read again. */
const gatherMs = 50;

/**
 * Sends the offsets of several partitions in one request, one request at a time: what is accepted within a moment, or
 * while a request is under way, shares the next. A request that fails is not repeated: what is not committed comes again.
 */
export function commitTogether(
  send: (offsets: readonly { readonly partition: number; readonly offset: string }[]) => Promise<void>,
): CommitOffset {
  let waiting = new Map<number, string>();
  let next: Promise<void> | undefined;
  let underWay: Promise<void> = Promise.resolve();

  const begin = async () => {
    await underWay;
    await sleep(gatherMs);
    const offsets = [...waiting].map(([partition, offset]) => ({ partition, offset }));
    waiting = new Map();
    next = undefined;
    underWay = send(offsets).catch(() => {});
    await underWay;
  };

  return (partition, offset) => {
    waiting.set(partition, offset);
    next ??= begin();
    return next;
  };
}
