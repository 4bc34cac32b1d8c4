import { backoff } from "@tessera/kit/backoff";
import { BatchSlots, type BatchSlotsOptions } from "@tessera/kit/batch-slots";
import { runInContext } from "@tessera/kit/context";
import { Counts } from "@tessera/kit/counts";
import { type Choice, FairQueue } from "@tessera/kit/fair-queue";
import { isTransient } from "@tessera/kit/fault";
import type { ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import type { ArrivedScan } from "../../domain/arrived-scan.ts";
import { crowded, failed, undecided } from "./outcome.ts";

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

/** How long the caller of scans waits. */
export interface Wait {
  readonly signal: AbortSignal;
  /** Milliseconds since 1970: no outcome is of use after it. */
  readonly deadline: number;
  /** A scan that other changes of its ticket hold back for so long stays undecided. */
  readonly patienceMs: number;
}

export interface Batches {
  /** Decides scans among those of other callers. A scan that is undecided or refused for crowding is not stored. */
  submit(scans: readonly ArrivedScan[], wait: Wait): Promise<Answer[]>;
}

/** So many scans of one code on one list may wait. Each batch decides one of them. */
const mostOfOneCode = 64;

/** The share of the queue that one organizer may fill. */
const shareOfOrganizer = 0.5;

/** After so many conflicts a scan waits before its next retry. */
const triesAtOnce = 3;
const pauses = { firstMs: 2, longestMs: 50 };

interface QueuedScan {
  readonly scan: ArrivedScan;
  /** One batch decides at most one scan with this key. */
  readonly key: string;
  readonly signal: AbortSignal;
  readonly deadline: number;
  /** By `performance.now`. */
  readonly patientUntil: number;
  /** How many conflicts it met in a row. */
  conflicts: number;
  /** Ends its patience, once something has held it back. */
  timer: NodeJS.Timeout | undefined;
  /** A batch decides it: it may be stored. */
  isUnderWay: boolean;
  isAnswered: boolean;
  resolve(answer: Answer): void;
}

/** Where the rate is limited, a batch has the scans of so much time. */
const shareMs = 20;

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
  const batchSize = Math.min(options.batchSize, Math.ceil((mostPerSecond * shareMs) / 1000));
  const queue = new FairQueue<QueuedScan>();
  /** How many scans with a key are not answered yet. */
  const open = new Counts();
  /** The keys of the batches under way. */
  const underWay = new Set<string>();
  const slots = new BatchSlots({ atOnce, worthAnother, onSlow: schedule });
  let isScheduled = false;
  /** The rate allows no batch before, by `performance.now`. */
  let notBefore = 0;
  let isWaiting = false;

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
    while (slots.mayBegin(queue.size)) {
      const now = performance.now();
      if (now < notBefore) {
        waitForRate(notBefore - now);
        return;
      }
      const batch = cutBatch();
      if (batch.length === 0) return;
      notBefore = Math.max(now, notBefore) + (batch.length * 1000) / mostPerSecond;
      void runBatch(batch);
    }
  }

  function waitForRate(ms: number): void {
    if (isWaiting) return;
    isWaiting = true;
    setTimeout(() => {
      isWaiting = false;
      schedule();
    }, ms);
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
      if (!isAwaited(queued)) {
        // Its caller has gone away: a scan that cannot be answered should not be stored.
        answer(queued, failed);
        return "drop";
      }
      if (underWay.has(queued.key)) {
        holdBack(queued);
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
      settle(batch, await decide(scans, (index) => isAwaited(batch[index])));
    } catch (error) {
      options.onFailure(error, batch.length);
      if (batch.length === 1 || isOutage(error)) for (const queued of batch) end(queued, failed);
      // One bad scan must not fail those that happened to arrive with it.
      else for (const queued of batch) await decideTogether([queued]);
    }
  }

  function settle(batch: readonly QueuedScan[], decisions: readonly Decision[]): void {
    const again: QueuedScan[] = [];
    for (const [index, queued] of batch.entries()) {
      const decision = decisions[index] ?? failed;
      if (decision !== queuedBehind && decision !== conflict) {
        end(queued, decision);
        continue;
      }
      release(queued);
      if (holdBack(queued)) {
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

  /** Another change of its ticket comes first. Returns false if the scan waits no longer; it is not stored. */
  function holdBack(queued: QueuedScan): boolean {
    const leftMs = queued.patientUntil - performance.now();
    if (leftMs <= 0) {
      answer(queued, undecided);
      return false;
    }
    queued.timer ??= setTimeout(() => {
      if (!queued.isUnderWay) answer(queued, undecided);
    }, leftMs);
    return true;
  }

  function release(queued: QueuedScan): void {
    queued.isUnderWay = false;
    underWay.delete(queued.key);
  }

  /** Answers a scan that was under way. */
  function end(queued: QueuedScan, decided: Answer): void {
    release(queued);
    answer(queued, decided);
  }

  function answer(queued: QueuedScan, decided: Answer): void {
    if (queued.isAnswered) return;
    queued.isAnswered = true;
    clearTimeout(queued.timer);
    open.add(queued.key, -1);
    queued.resolve(decided);
  }

  function enqueue(queued: QueuedScan): void {
    if (queued.isAnswered) return;
    queue.push(queued.scan.organizer, queued);
    schedule();
  }

  async function submitOne(scan: ArrivedScan, { signal, deadline, patienceMs }: Wait): Promise<Answer> {
    const { organizer, event, list, rawCode } = scan;
    // Slugs hold no slash, and the code comes last: no two scans of different codes have the same key.
    const key = `${organizer}/${event}/${list}/${rawCode}`;
    if (open.of(key) >= mostOfOneCode || isFull(organizer)) return crowded;
    open.add(key, 1);
    return new Promise((resolve) => {
      const patientUntil = performance.now() + patienceMs;
      enqueue({
        scan,
        key,
        signal,
        deadline,
        patientUntil,
        conflicts: 0,
        timer: undefined,
        isUnderWay: false,
        isAnswered: false,
        resolve,
      });
    });
  }

  function isFull(organizer: string): boolean {
    return queue.size >= longestQueue || queue.sizeOf(organizer) >= longestQueue * shareOfOrganizer;
  }

  return { submit: (scans, wait) => Promise.all(scans.map((scan) => submitOne(scan, wait))) };
}

/** A process that was frozen goes on before its timers fire, so the clock decides, too. */
function isAwaited(queued: QueuedScan | undefined): boolean {
  return queued !== undefined && !queued.signal.aborted && Date.now() < queued.deadline;
}

/** If the database cannot be reached, a retry of every scan alone would only take longer. A conflict is about single rows. */
function isOutage(error: unknown): boolean {
  return isTransient(error) && error.kind !== "conflict";
}
