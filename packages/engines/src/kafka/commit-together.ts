import { setTimeout as sleep } from "node:timers/promises";

/** Commits the offset of a partition: all messages before it were accepted. Resolves even if the commit fails. */
export type CommitOffset = (partition: number, offset: string) => Promise<void>;

/**
 * A commit costs a broker as much as a publication, so commits are batched. A crash redelivers the facts of this time.
 */
const lingerMs = 50;

/**
 * Commits the offsets of several partitions in one request, one request at a time. Offsets that arrive during the pause
 * or a request share the next one. A failed request is not repeated: uncommitted facts are delivered again.
 */
export function commitTogether(
  send: (offsets: readonly { readonly partition: number; readonly offset: string }[]) => Promise<void>,
): CommitOffset {
  let waiting = new Map<number, string>();
  let next: Promise<void> | undefined;
  let underWay: Promise<void> = Promise.resolve();

  const begin = async () => {
    await underWay;
    await sleep(lingerMs);
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
