import { runInContext } from "@tessera/kit/context";
import { isTransient } from "@tessera/kit/fault";
import { backoff } from "@tessera/kit/waiting/backoff";
import { BatchSlots, type BatchSlotsOptions } from "@tessera/kit/waiting/batch-slots";
import { Counts } from "@tessera/kit/waiting/counts";
import { type Choice, FairQueue } from "@tessera/kit/waiting/fair-queue";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import { type Answer, conflict, type Decision, queuedBehind } from "./decision.ts";
import { crowded, undecided } from "./outcome.ts";
import { QueuedScan, type Wait } from "./queued-scan.ts";
import { ScanRate } from "./scan-rate.ts";

/** Whether the caller of a scan, by its index, still waits. One that gave up may have been told another outcome by now. */
export type IsAwaited = (index: number) => boolean;

export interface BatchesOptions extends Pick<BatchSlotsOptions, "atOnce" | "worthAnother"> {
  /** Decides scans together, in their order. */
  decide(scans: readonly ArrivedScan[], isAwaited: IsAwaited): Promise<readonly Decision[]>;
  /** Called when a batch or a single scan could not be decided. */
  onFailure(error: unknown, scans: number): void;
  readonly batchSize: number;
  /** So many scans are decided in a second at most; undefined: as many as can be. */
  readonly mostPerSecond?: number | undefined;
  /** With more scans than this waiting, further ones are refused: their callers would not wait so long. */
  readonly longestQueue: number;
}

export interface Batches {
  /** Decides a scan among those of other callers. One that is refused for crowding is not stored. */
  submit(scan: ArrivedScan, wait: Wait): Promise<Answer>;
}

/** So many scans of one code on one list may wait. Each batch decides one of them. */
const mostOfOneCode = 64;

/** The share of the queue that one organizer may fill. */
const shareOfOrganizer = 0.5;

/** After so many conflicts a scan waits before its next retry. */
const triesAtOnce = 3;
const pauses = { firstMs: 2, longestMs: 50 };

/**
 * Decides scans in batches. A batch is what has arrived while the one before it was under way: batches grow with the load,
 * and a lone scan is alone. A batch costs much more than a scan in it, so beside a large one another begins only for many
 * scans, or when it takes long. The scans of one organizer are decided in the order of their arrival.
 *
 * Organizers take turns in a batch, and of each code and list one scan at a time is under way. So neither a flood nor a
 * busy ticket delays the scans of others.
 */
export function createBatches(options: BatchesOptions): Batches {
  const { decide, atOnce, worthAnother, longestQueue, mostPerSecond = Number.POSITIVE_INFINITY } = options;
  const queue = new FairQueue<QueuedScan>();
  /** How many scans with a key are not answered yet. */
  const open = new Counts();
  /** The keys of the batches under way. */
  const underWay = new Set<string>();
  const slots = new BatchSlots({ atOnce, worthAnother, onSlow: schedule });
  const rate = new ScanRate(mostPerSecond, schedule);
  const batchSize = Math.min(options.batchSize, rate.batchSize);
  let isScheduled = false;

  /** Lets every caller that is ready submit its scans before batches are cut. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      // A batch has scans of many callers: the deadline of one is not that of the others.
      runInContext({}, begin);
    });
  }

  function begin(): void {
    while (slots.mayBegin(queue.size) && rate.mayBegin()) {
      const batch = cutBatch();
      if (batch.length === 0) return;
      rate.begin(batch.length);
      void runBatch(batch);
    }
  }

  async function runBatch(batch: readonly QueuedScan[]): Promise<void> {
    const end = slots.begin(batch.length);
    for (const queued of batch) queued.isUnderWay = true;
    await decideTogether(batch);
    end();
    if (queue.size > 0) schedule();
  }

  function cutBatch(): QueuedScan[] {
    const choose = (queued: QueuedScan): Choice => {
      if (queued.isAnswered) return "drop";
      if (!queued.isAwaited) {
        // Its caller has gone away: a scan that cannot be answered should not be stored.
        queued.answer(undecided);
        return "drop";
      }
      if (underWay.has(queued.key)) {
        queued.holdBack();
        return "leave";
      }
      underWay.add(queued.key);
      return "take";
    };
    return queue.take(batchSize, choose);
  }

  async function decideTogether(batch: readonly QueuedScan[]): Promise<void> {
    try {
      const scans = batch.map(({ scan }) => scan);
      settle(batch, await decide(scans, (index) => batch[index]?.isAwaited === true));
    } catch (error) {
      options.onFailure(error, batch.length);
      if (batch.length === 1 || isOutage(error)) for (const queued of batch) end(queued, undecided);
      // One bad scan must not fail those that happened to arrive with it.
      else for (const queued of batch) await decideTogether([queued]);
    }
  }

  function settle(batch: readonly QueuedScan[], decisions: readonly Decision[]): void {
    const again: QueuedScan[] = [];
    for (const [index, queued] of batch.entries()) {
      const decision = decisions[index] ?? undecided;
      if (decision !== queuedBehind && decision !== conflict) {
        end(queued, decision);
        continue;
      }
      release(queued);
      if (queued.holdBack()) {
        if (decision === conflict) queued.conflicts += 1;
        if (queued.conflicts <= triesAtOnce) again.push(queued);
        else setTimeout(() => enqueue(queued), backoff(pauses, queued.conflicts - triesAtOnce));
      }
    }
    // In front, so that scans keep the order of their arrival.
    for (const [organizer, queued] of Map.groupBy(again, ({ scan }) => scan.organizer)) {
      queue.putBack(organizer, queued);
    }
  }

  function release(queued: QueuedScan): void {
    queued.isUnderWay = false;
    underWay.delete(queued.key);
  }

  /** Answers a scan that was under way. */
  function end(queued: QueuedScan, decided: Answer): void {
    release(queued);
    queued.answer(decided);
  }

  function enqueue(queued: QueuedScan): void {
    if (queued.isAnswered) return;
    queue.push(queued.scan.organizer, queued);
    schedule();
  }

  function submit(scan: ArrivedScan, wait: Wait): Promise<Answer> {
    const { organizer, event, list, rawCode } = scan;
    // Slugs hold no slash, and the code comes last: no two scans of different codes have the same key.
    const key = `${organizer}/${event}/${list}/${rawCode}`;
    if (open.of(key) >= mostOfOneCode || isFull(organizer)) return Promise.resolve(crowded);
    return new Promise((resolve) => enqueue(new QueuedScan({ scan, key, wait, open }, resolve)));
  }

  function isFull(organizer: string): boolean {
    return queue.size >= longestQueue || queue.sizeOf(organizer) >= longestQueue * shareOfOrganizer;
  }

  return { submit };
}

/** If the database cannot be reached, a retry of every scan alone would only take longer. A conflict is about single rows. */
function isOutage(error: unknown): boolean {
  return isTransient(error) && error.kind !== "conflict";
}
