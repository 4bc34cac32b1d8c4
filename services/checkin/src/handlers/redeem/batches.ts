import type { ArrivedScan } from "@tessera/admission";
import { runInContext } from "@tessera/kit/context";
import { backoff } from "@tessera/kit/waiting/backoff";
import { BatchSlots } from "@tessera/kit/waiting/batch-slots";
import { Counts } from "@tessera/kit/waiting/counts";
import { type Choice, FairQueue } from "@tessera/kit/waiting/fair-queue";
import type { BatchesOptions } from "./batch-options.ts";
import { Chunks } from "./chunks.ts";
import { type Answer, conflict, type Decision, queuedBehind } from "./decision.ts";
import { isOutage } from "./is-outage.ts";
import { crowded, undecided } from "./outcome.ts";
import { QueuedScan, type Wait } from "./queued-scan.ts";
import { ScanRate } from "./scan-rate.ts";
import { weighScan } from "./scan-weight.ts";

export interface Batches {
  /** Decides a scan in a batch with others. A scan that is refused for crowding is not stored. */
  submit(scan: ArrivedScan, wait: Wait): Promise<Answer>;
  /**
   * Decides the first of these scans together and in order, as many as one batch has room for. They come behind all single
   * scans.
   */
  submitTogether(scans: readonly ArrivedScan[], wait: Pick<Wait, "signal" | "deadline">): Promise<readonly Decision[]>;
}

/** The most scans of one code on one list that may wait. Each batch decides one of them. */
const mostOfOneCode = 64;

/** The share of the queue that one organizer may fill. */
const shareOfOrganizer = 0.5;

/** After this many conflicts a scan backs off before its next retry. */
const triesAtOnce = 3;
const pauses = { firstMs: 2, longestMs: 50 };

/**
 * Decides scans in batches. A batch has the scans that arrived while the previous one was under way: batches grow with
 * the load, and a lone scan does not wait. A batch costs much more than a scan in it, so a second batch begins beside a
 * large one only for many scans, or when the first takes long. Scans of one organizer are decided in the order of
 * arrival.
 *
 * Each batch takes scans of all organizers in turn, and one scan per code and list: neither a flood of one organizer
 * nor a busy ticket delays the scans of others. The scans of uploads are in batches of their own, which begin while no
 * other scan waits.
 */
export function createBatches(options: BatchesOptions): Batches {
  const { decide, atOnce, worthAnother, longestQueue, mostPerSecond = Number.POSITIVE_INFINITY } = options;
  const queue = new FairQueue<QueuedScan>();
  /** The number of unanswered scans by key. */
  const open = new Counts();
  /** The keys of the scans in batches under way. */
  const underWay = new Set<string>();
  const slots = new BatchSlots({ atOnce, worthAnother, onSlow: schedule });
  const rate = new ScanRate(mostPerSecond, schedule);
  const batchSize = Math.min(options.batchSize, rate.batchSize);
  const chunks = new Chunks({ decide, onFailure: options.onFailure, atOnce, batchSize, rate, onReady: schedule });
  let isScheduled = false;

  /** Defers the cut, so that every caller that is ready submits its scans first. */
  function schedule(): void {
    if (isScheduled) return;
    isScheduled = true;
    setImmediate(() => {
      isScheduled = false;
      // Without the context of a caller: the deadline of one scan must not limit the batch.
      runInContext({}, begin);
    });
  }

  function begin(): void {
    if (chunks.isOverdue) chunks.begin();
    beginBatches();
    while (queue.size === 0 && chunks.begin());
  }

  function beginBatches(): void {
    while (slots.mayBegin(queue.size) && rate.mayBegin()) {
      const batch = cutBatch();
      if (batch.length === 0) return;
      rate.begin(batch.reduce((sum, { scan }) => sum + weighScan(scan), 0));
      void runBatch(batch);
    }
  }

  async function runBatch(batch: readonly QueuedScan[]): Promise<void> {
    const end = slots.begin(batch.length);
    for (const queued of batch) queued.isUnderWay = true;
    await decideTogether(batch);
    end();
    if (queue.size > 0 || chunks.isWaiting) schedule();
  }

  function cutBatch(): QueuedScan[] {
    const choose = (queued: QueuedScan): Choice => {
      if (queued.isAnswered) return "drop";
      if (!queued.isAwaited) {
        // The caller has gone away: a scan that cannot be answered should not be stored.
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
    return queue.take(batchSize, choose, ({ scan }) => weighScan(scan));
  }

  async function decideTogether(batch: readonly QueuedScan[]): Promise<void> {
    try {
      const scans = batch.map(({ scan }) => scan);
      settle(batch, await decide(scans, (index) => batch[index]?.isAwaited === true));
    } catch (error) {
      options.onFailure(error, batch.length);
      if (batch.length === 1 || isOutage(error)) for (const queued of batch) end(queued, undecided);
      // One bad scan must not fail the others of its batch.
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
    // To the front of the queue, so that scans keep their order of arrival.
    for (const [organizer, queued] of Map.groupBy(again, ({ scan }) => scan.organizer)) {
      queue.putBack(organizer, queued);
    }
  }

  function release(queued: QueuedScan): void {
    queued.isUnderWay = false;
    underWay.delete(queued.key);
  }

  /** Answers a scan, and removes its key from those under way. */
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
    // Slugs hold no slash, and the code comes last, so the key is unambiguous.
    const key = `${organizer}/${event}/${list}/${rawCode}`;
    if (open.of(key) >= mostOfOneCode || isFull(organizer)) return Promise.resolve(crowded);
    return new Promise((resolve) => enqueue(new QueuedScan({ scan, key, wait, open }, resolve)));
  }

  function isFull(organizer: string): boolean {
    return queue.size >= longestQueue || queue.sizeOf(organizer) >= longestQueue * shareOfOrganizer;
  }

  return { submit, submitTogether: (scans, wait) => chunks.submit(scans, wait) };
}
