interface Waiting<M> {
  readonly messages: readonly M[];
  readonly bytes: number;
  readonly signal: AbortSignal;
  resolve(): void;
  reject(error: unknown): void;
}

/** Resolves when the messages are acted on; rejects with the failure. */
export type BatchCall<M> = (messages: readonly M[], signal: AbortSignal) => Promise<void>;

/**
 * Acts on messages of several partitions together. Calls at the same moment form a batch in their order, up to `most`
 * messages and `mostBytes`. At most `atOnce` batches run at a time; later calls wait and form larger batches. So a quiet
 * stream has no delay, a busy one needs fewer transactions, and a backlog does not take all connections.
 *
 * When a batch of several calls fails, each call is tried alone, so that none fails because of another. After a failure
 * that `isCommon`, which every call would have, all of them fail at once.
 */
export function batchCalls<M>(options: {
  act(messages: readonly M[]): Promise<void>;
  isCommon(error: unknown): boolean;
  sizeOf(message: M): number;
  atOnce: number;
  most: number;
  mostBytes: number;
}): BatchCall<M> {
  const { act, isCommon, sizeOf, atOnce, most, mostBytes } = options;
  const queue: Waiting<M>[] = [];
  let working = 0;
  let planned = false;

  function takeBatch(): Waiting<M>[] {
    const batch: Waiting<M>[] = [];
    for (let [count, bytes] = [0, 0]; ; ) {
      const next = queue[0];
      if (next === undefined) return batch;
      const isFull = count + next.messages.length > most || bytes + next.bytes > mostBytes;
      if (batch.length > 0 && isFull) return batch;
      queue.shift();
      if (next.signal.aborted) next.reject(next.signal.reason);
      else {
        batch.push(next);
        count += next.messages.length;
        bytes += next.bytes;
      }
    }
  }

  async function run(batch: readonly Waiting<M>[]): Promise<void> {
    const [first] = batch;
    try {
      await act(batch.length === 1 && first !== undefined ? first.messages : batch.flatMap(({ messages }) => messages));
      for (const each of batch) each.resolve();
    } catch (error) {
      if (batch.length === 1 || isCommon(error)) for (const each of batch) each.reject(error);
      else await Promise.all(batch.map((each) => run([each])));
    }
  }

  function work(): void {
    planned = false;
    while (working < atOnce && queue.length > 0) {
      const batch = takeBatch();
      if (batch.length === 0) return;
      working += 1;
      void run(batch).finally(() => {
        working -= 1;
        work();
      });
    }
  }

  return (messages, signal) =>
    new Promise((resolve, reject) => {
      const bytes = messages.reduce((sum, message) => sum + sizeOf(message), 0);
      queue.push({ messages, bytes, signal, resolve, reject });
      if (planned || working === atOnce) return;
      planned = true;
      // Messages that were fetched together arrive partition by partition within this turn of the event loop.
      setImmediate(work);
    });
}
