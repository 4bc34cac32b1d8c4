import { backoff } from "@tessera/kit/backoff";
import { runInContext } from "@tessera/kit/context";
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
  /** Items of one key go one after the other, in the order of their arrival. */
  keyOf(item: In): string;
  /** How many batches may be under way at a time. Each lane has its share of the keys. */
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
const pauses = { firstMs: 2, longestMs: 50 };

interface Lane<In, Out> {
  queue: Waiting<In, Out>[];
  busy: boolean;
}

/**
 * Gathers items into batches without ever waiting for more of them: a batch is
 * what has arrived while the one before it was under way. So batches grow with
 * the load, and a lone item is alone.
 */
export function createBatcher<In, Out>(options: BatcherOptions<In, Out>): Batcher<In, Out> {
  const { decide, failed, batchSize } = options;
  const lanes = Array.from({ length: options.lanes }, (): Lane<In, Out> => ({ queue: [], busy: false }));
  let scheduled = false;

  /** Lets everybody who is ready to submit do so before batches are cut. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      // A batch is nobody's in particular: the deadline of one caller is not that of the others.
      runInContext({}, () => {
        for (const lane of lanes) if (!lane.busy && lane.queue.length > 0) void runBatch(lane);
      });
    });
  }

  async function runBatch(lane: Lane<In, Out>): Promise<void> {
    lane.busy = true;
    const batch = lane.queue.slice(0, batchSize);
    lane.queue = lane.queue.slice(batchSize);
    const wanted = batch.filter(({ signal, settle }) => {
      // Its caller has gone: a scan that nobody hears of had better not happen.
      if (signal.aborted) settle(failed);
      return !signal.aborted;
    });
    await decideTogether(lane, wanted);
    lane.busy = false;
    schedule();
  }

  async function decideTogether(lane: Lane<In, Out>, batch: readonly Waiting<In, Out>[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      settleAll(lane, batch, await decide(batch.map(({ item }) => item)));
    } catch (error) {
      options.onFailure(error, batch.length);
      if (batch.length === 1 || isOutage(error)) for (const waiting of batch) waiting.settle(failed);
      // One bad item must not fail those that happened to arrive with it.
      else for (const waiting of batch) await decideTogether(lane, [waiting]);
    }
  }

  function settleAll(
    lane: Lane<In, Out>,
    batch: readonly Waiting<In, Out>[],
    outcomes: readonly (Out | Undecided | undefined)[],
  ): void {
    const again: Waiting<In, Out>[] = [];
    for (const [index, waiting] of batch.entries()) {
      const outcome = outcomes[index];
      if (outcome === behind) again.push(waiting);
      else if (outcome !== overtaken) waiting.settle(outcome ?? failed);
      else if (hasPatience(waiting)) {
        if (waiting.overtaken <= triesAtOnce) again.push(waiting);
        else setTimeout(() => enqueue(lane, waiting), backoff(pauses, waiting.overtaken - triesAtOnce));
      } else waiting.settle(failed);
    }
    // In front, so that items keep the order of their arrival.
    lane.queue = [...again, ...lane.queue];
  }

  function hasPatience(waiting: Waiting<In, Out>): boolean {
    const now = performance.now();
    if (waiting.overtaken === 0) waiting.since = now;
    waiting.overtaken += 1;
    return now - waiting.since <= options.patienceMs;
  }

  function enqueue(lane: Lane<In, Out>, waiting: Waiting<In, Out>): void {
    lane.queue.push(waiting);
    schedule();
  }

  function laneOf(item: In): Lane<In, Out> {
    const lane = lanes[hash(options.keyOf(item)) % lanes.length];
    if (lane === undefined) throw new Error("a batcher needs a lane");
    return lane;
  }

  return {
    async submit(items, signal) {
      const waiting = lanes.reduce((sum, { queue }) => sum + queue.length, 0);
      if (waiting + items.length > options.longestQueue) {
        const message = "more scans are waiting than can be decided in time; try again";
        throw new Fault("exhausted", "too_many_scans", message, { retryAfterMs: 1000 });
      }
      return Promise.all(
        items.map(
          (item) =>
            new Promise<Out>((settle) => enqueue(laneOf(item), { item, signal, overtaken: 0, since: 0, settle })),
        ),
      );
    },
  };
}

/** Spreads keys evenly (FNV-1a). */
function hash(key: string): number {
  let value = 0x811c9dc5;
  for (let at = 0; at < key.length; at += 1) value = Math.imul(value ^ key.charCodeAt(at), 0x01000193);
  return value >>> 0;
}

/** Where the database is away, trying every item alone would only take longer. */
function isOutage(error: unknown): boolean {
  return error instanceof Fault && (error.kind === "unavailable" || error.kind === "timeout");
}
