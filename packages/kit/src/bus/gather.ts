/** What was handed in together. */
interface Waiting<M> {
  readonly messages: readonly M[];
  readonly signal: AbortSignal;
  resolve(): void;
  reject(error: unknown): void;
}

/** Hands messages in; resolves when they are acted on, rejects with what prevents that. */
export type Gather<M> = (messages: readonly M[], signal: AbortSignal) => Promise<void>;

/**
 * Acts on messages of several partitions together. What is handed in at the same moment goes together, in the order it
 * came, as many as `most` messages; at most `places` batches are at work, and the rest waits and grows. So a quiet
 * stream is acted on at once, a busy one in fewer and larger transactions, and a backlog leaves connections to others.
 *
 * Where a batch of several fails they are tried one by one, so that nobody fails for what another has handed in;
 * unless everybody would, which `isCommon` tells.
 */
export function gather<M>(options: {
  act(messages: readonly M[]): Promise<void>;
  isCommon(error: unknown): boolean;
  places: number;
  most: number;
}): Gather<M> {
  const { act, isCommon, places, most } = options;
  const queue: Waiting<M>[] = [];
  let working = 0;
  let planned = false;

  function takeBatch(): Waiting<M>[] {
    const batch: Waiting<M>[] = [];
    for (let count = 0; ; ) {
      const next = queue[0];
      if (next === undefined || (batch.length > 0 && count + next.messages.length > most)) return batch;
      queue.shift();
      if (next.signal.aborted) next.reject(next.signal.reason);
      else {
        batch.push(next);
        count += next.messages.length;
      }
    }
  }

  async function settle(batch: readonly Waiting<M>[]): Promise<void> {
    const [first] = batch;
    try {
      await act(batch.length === 1 && first !== undefined ? first.messages : batch.flatMap(({ messages }) => messages));
      for (const each of batch) each.resolve();
    } catch (error) {
      if (batch.length === 1 || isCommon(error)) for (const each of batch) each.reject(error);
      else for (const each of batch) await settle([each]);
    }
  }

  function work(): void {
    planned = false;
    while (working < places && queue.length > 0) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      working += 1;
      void settle(batch).finally(() => {
        working -= 1;
        work();
      });
    }
  }

  return (messages, signal) =>
    new Promise((resolve, reject) => {
      queue.push({ messages, signal, resolve, reject });
      if (planned || working === places) return;
      planned = true;
      // What was fetched together arrives partition by partition, but before anything else happens.
      setImmediate(work);
    });
}
