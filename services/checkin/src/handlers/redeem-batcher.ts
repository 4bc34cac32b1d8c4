import { Fault } from "@tessera/kit/fault";

/** Another item of this very batch comes first; it is decided again in the next one. */
export const behind = Symbol("behind");

/** Somebody else came first; it is decided again, later and later while that goes on. */
export const overtaken = Symbol("overtaken");

export type Undecided = typeof behind | typeof overtaken;

/** Decides items together; answers in their order. */
export type DecideBatch<In, Out> = (items: readonly In[]) => Promise<(Out | Undecided)[]>;

export interface BatcherOptions<In, Out> {
  readonly decide: DecideBatch<In, Out>;
  /** What an item gets that could not be decided. */
  readonly failed: Out;
  /** Told why a batch or a single item could not be decided. */
  onFailure(error: unknown, items: number): void;
  /** How many batches may be under way at a time. */
  readonly lanes: number;
  readonly batchSize: number;
  /** More than this many waiting items are refused: nobody would wait for them. */
  readonly longestQueue: number;
  /** An item that is overtaken for so long fails. */
  readonly patienceMs: number;
}

export interface Batcher<In, Out> {
  /** Decides items among those of other callers; answers in their order. */
  submit(items: readonly In[], signal: AbortSignal): Promise<Out[]>;
}

interface Waiting<In, Out> {
  readonly item: In;
  readonly signal: AbortSignal;
  /** How often in a row it was overtaken, and since when. */
  overtaken: number;
  since: number;
  settle(outcome: Out): void;
}

/** So often it tries again at once. Then it leaves those in its way some time. */
const triesAtOnce = 3;
const longestPauseMs = 50;

/**
 * Gathers items into batches without ever waiting for more of them: a batch is
 * what has arrived while those before it were under way. So batches grow with
 * the load, and a lone item is alone.
 */
export function createBatcher<In, Out>(options: BatcherOptions<In, Out>): Batcher<In, Out> {
  const { decide, failed, lanes, batchSize } = options;
  let queue: Waiting<In, Out>[] = [];
  let busy = 0;
  let scheduled = false;

  /** Lets everybody who is ready to submit do so before batches are cut. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      while (busy < lanes && queue.length > 0) void runBatch(takeBatch());
    });
  }

  function takeBatch(): Waiting<In, Out>[] {
    const batch = queue.slice(0, batchSize);
    queue = queue.slice(batchSize);
    return batch;
  }

  async function runBatch(batch: readonly Waiting<In, Out>[]): Promise<void> {
    busy += 1;
    const wanted = batch.filter(({ signal, settle }) => {
      // Its caller has gone: a scan that nobody hears of had better not happen.
      if (signal.aborted) settle(failed);
      return !signal.aborted;
    });
    await decideTogether(wanted);
    busy -= 1;
    schedule();
  }

  async function decideTogether(batch: readonly Waiting<In, Out>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      settleAll(batch, await decide(batch.map(({ item }) => item)));
    } catch (error) {
      options.onFailure(error, batch.length);
      if (batch.length === 1 || isOutage(error)) for (const waiting of batch) waiting.settle(failed);
      // One bad item must not fail those that happened to arrive with it.
      else for (const waiting of batch) await decideTogether([waiting]);
    }
  }

  function settleAll(batch: readonly Waiting<In, Out>[], outcomes: readonly (Out | Undecided | undefined)[]): void {
    const again: Waiting<In, Out>[] = [];
    for (const [index, waiting] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome === behind) again.push(waiting);
      else if (outcome === overtaken) retry(waiting, again);
      else waiting.settle(outcome ?? failed);
    }
    // In front, so that items keep the order of their arrival.
    queue = [...again, ...queue];
  }

  function retry(waiting: Waiting<In, Out>, again: Waiting<In, Out>[]): void {
    const now = performance.now();
    if (waiting.overtaken === 0) waiting.since = now;
    waiting.overtaken += 1;
    if (now - waiting.since > options.patienceMs) waiting.settle(failed);
    else if (waiting.overtaken <= triesAtOnce) again.push(waiting);
    else setTimeout(() => enqueue([waiting]), Math.min(longestPauseMs, 2 ** (waiting.overtaken - triesAtOnce)));
  }

  function enqueue(waiting: readonly Waiting<In, Out>[]): void {
    queue.push(...waiting);
    schedule();
  }

  return {
    async submit(items, signal) {
      if (queue.length + items.length > options.longestQueue) {
        throw new Fault(
          "exhausted",
          "too_many_scans",
          "more scans are waiting than can be decided in time; try again",
          {
            retryAfterMs: 1000,
          },
        );
      }
      return Promise.all(
        items.map((item) => new Promise<Out>((settle) => enqueue([{ item, signal, overtaken: 0, since: 0, settle }]))),
      );
    },
  };
}

/** Where the database is away, trying every item alone would only take longer. */
function isOutage(error: unknown): boolean {
  return error instanceof Fault && (error.kind === "unavailable" || error.kind === "timeout");
}
