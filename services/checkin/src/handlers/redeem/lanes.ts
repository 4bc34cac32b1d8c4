import { backoff } from "@tessera/kit/backoff";
import { runInContext } from "@tessera/kit/context";
import { isTransient } from "@tessera/kit/fault";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import { fault } from "../../faults.ts";
import { failed } from "./outcome.ts";

/** No ticket here has the code, and boxoffice was not asked for it yet. */
export const unknownYet = Symbol("unknown yet");

/** Another scan of this very batch changes the ticket first; this one is decided again in the next batch. */
export const queuedBehind = Symbol("queued behind");

/** Another transaction came first; the scan is decided again, with growing pauses. */
export const conflict = Symbol("conflict");

/** What a batch says of a scan. */
export type Decision = ScanOutcome | typeof unknownYet | typeof queuedBehind | typeof conflict;

/** What a caller is answered. */
export type Answer = ScanOutcome | typeof unknownYet;

export interface LanesOptions {
  /** Decides scans together, in their order. */
  decide(scans: readonly ArrivedScan[]): Promise<readonly Decision[]>;
  /** Called when a batch or a single scan could not be decided. */
  onFailure(error: unknown, scans: number): void;
  /** How many batches may be under way at a time. Each lane has its share of the codes. */
  readonly lanes: number;
  readonly batchSize: number;
  /** With more scans than this in the queues, further ones are refused: their callers would not wait so long. */
  readonly longestQueue: number;
  /** A scan that meets conflicts for so long fails. */
  readonly patienceMs: number;
}

export interface Lanes {
  /** Decides scans among those of other callers, in their order. */
  submit(scans: readonly ArrivedScan[], signal: AbortSignal): Promise<Answer[]>;
}

interface QueuedScan {
  readonly scan: ArrivedScan;
  readonly signal: AbortSignal;
  /** How many conflicts it met in a row, and since when. */
  conflicts: number;
  since: number;
  resolve(answer: Answer): void;
}

/** After so many conflicts a scan waits before its next retry. */
const triesAtOnce = 3;
const pauses = { firstMs: 2, longestMs: 50 };

interface Lane {
  queue: QueuedScan[];
  busy: boolean;
}

/**
 * Decides scans in lanes, a batch at a time. A batch never waits for more scans: it is what has arrived while the one
 * before it was under way. So batches grow with the load, and a lone scan is alone. Scans of one code are in one lane,
 * and are decided in the order of their arrival.
 */
export function createLanes(options: LanesOptions): Lanes {
  const { decide, batchSize } = options;
  const lanes = Array.from({ length: options.lanes }, (): Lane => ({ queue: [], busy: false }));
  let scheduled = false;

  /** Lets every caller that is ready submit its scans before batches are cut. */
  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(() => {
      scheduled = false;
      // A batch has scans of many callers: the deadline of one is not that of the others.
      runInContext({}, () => {
        for (const lane of lanes) if (!lane.busy && lane.queue.length > 0) void runBatch(lane);
      });
    });
  }

  async function runBatch(lane: Lane): Promise<void> {
    lane.busy = true;
    const batch = lane.queue.slice(0, batchSize);
    lane.queue = lane.queue.slice(batchSize);
    const wanted = batch.filter(({ signal, resolve }) => {
      // Its caller has gone away: a scan that cannot be answered should not be stored.
      if (signal.aborted) resolve(failed);
      return !signal.aborted;
    });
    await decideTogether(lane, wanted);
    lane.busy = false;
    schedule();
  }

  async function decideTogether(lane: Lane, batch: readonly QueuedScan[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      resolveAll(lane, batch, await decide(batch.map(({ scan }) => scan)));
    } catch (error) {
      options.onFailure(error, batch.length);
      if (batch.length === 1 || isOutage(error)) for (const { resolve } of batch) resolve(failed);
      // One bad scan must not fail those that happened to arrive with it.
      else for (const queued of batch) await decideTogether(lane, [queued]);
    }
  }

  function resolveAll(lane: Lane, batch: readonly QueuedScan[], decisions: readonly Decision[]): void {
    const again: QueuedScan[] = [];
    for (const [index, queued] of batch.entries()) {
      const decision = decisions[index] ?? failed;
      if (decision === queuedBehind) again.push(queued);
      else if (decision !== conflict) queued.resolve(decision);
      else if (!hasPatience(queued)) queued.resolve(failed);
      else if (queued.conflicts <= triesAtOnce) again.push(queued);
      else setTimeout(() => enqueue(lane, queued), backoff(pauses, queued.conflicts - triesAtOnce));
    }
    // In front, so that scans keep the order of their arrival.
    lane.queue = [...again, ...lane.queue];
  }

  function hasPatience(queued: QueuedScan): boolean {
    const now = performance.now();
    if (queued.conflicts === 0) queued.since = now;
    queued.conflicts += 1;
    return now - queued.since <= options.patienceMs;
  }

  function enqueue(lane: Lane, queued: QueuedScan): void {
    lane.queue.push(queued);
    schedule();
  }

  function laneOf({ rawCode }: ArrivedScan): Lane {
    const lane = lanes[hash(rawCode) % lanes.length];
    if (lane === undefined) throw new Error("scans need a lane");
    return lane;
  }

  return {
    async submit(scans, signal) {
      const waiting = lanes.reduce((sum, { queue }) => sum + queue.length, 0);
      if (waiting + scans.length > options.longestQueue) {
        const message = "more scans are waiting than can be decided in time; try again";
        throw fault("too_many_scans", message, { retryAfterMs: 1000 });
      }
      return Promise.all(
        scans.map(
          (scan) =>
            new Promise<Answer>((resolve) => enqueue(laneOf(scan), { scan, signal, conflicts: 0, since: 0, resolve })),
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

/** If the database cannot be reached, a retry of every scan alone would only take longer. A conflict is about single rows. */
function isOutage(error: unknown): boolean {
  return isTransient(error) && error.kind !== "conflict";
}
