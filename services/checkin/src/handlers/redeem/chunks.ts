import type { ArrivedScan } from "@tessera/admission";
import { FairQueue } from "@tessera/kit/waiting/fair-queue";
import type { BatchesOptions, IsAwaited } from "./batch-options.ts";
import { type Decision, isOutcome, queuedBehind } from "./decision.ts";
import { isOutage } from "./is-outage.ts";
import { crowded, undecided } from "./outcome.ts";
import type { Wait } from "./queued-scan.ts";
import type { ScanRate } from "./scan-rate.ts";
import { weighScan } from "./scan-weight.ts";

interface ChunksOptions extends Pick<BatchesOptions, "decide" | "onFailure" | "atOnce" | "batchSize"> {
  readonly rate: ScanRate;
  /** Called when a chunk may begin. */
  onReady(): void;
}

interface Chunk {
  readonly scans: readonly ArrivedScan[];
  readonly wait: ChunkWait;
  readonly resolve: (decisions: readonly Decision[]) => void;
}

type ChunkWait = Pick<Wait, "signal" | "deadline">;

/** However many single scans come, a chunk begins this long after the last one. */
const longestPauseMs = 100;

/** Chunks that may wait: their callers would not wait for more. One organizer may fill half of it. */
const mostWaiting = 128;

/**
 * The chunks of uploads, each a batch of its own, decided in order. Organizers take turns. The owner begins them behind
 * single scans.
 */
export class Chunks {
  readonly #options: ChunksOptions;
  readonly #queue = new FairQueue<Chunk>();
  #underWay = 0;
  /** When a chunk began last, or came when none waited; by `performance.now`. */
  #lastAt = 0;

  constructor(options: ChunksOptions) {
    this.#options = options;
  }

  get isWaiting(): boolean {
    return this.#queue.size > 0;
  }

  /** A chunk waits no longer for single scans. */
  get isOverdue(): boolean {
    return this.isWaiting && performance.now() - this.#lastAt >= longestPauseMs;
  }

  /** Decides the first of these scans, as many as one batch has room for. */
  submit(scans: readonly ArrivedScan[], wait: ChunkWait): Promise<readonly Decision[]> {
    const chunk = cut(scans, this.#options.batchSize);
    const organizer = chunk[0]?.organizer ?? "";
    if (this.#queue.size >= mostWaiting || this.#queue.sizeOf(organizer) >= mostWaiting / 2)
      return Promise.resolve(chunk.map(() => crowded));
    if (!this.isWaiting) this.#lastAt = performance.now();
    return new Promise((resolve) => {
      this.#queue.push(organizer, { scans: chunk, wait, resolve });
      this.#options.onReady();
    });
  }

  /** Begins the next chunk; false: none may begin. */
  begin(): boolean {
    const { atOnce, rate } = this.#options;
    if (this.#underWay >= atOnce || !this.isWaiting || !rate.mayBegin()) return false;
    const [chunk] = this.#queue.take(1);
    if (chunk === undefined) return false;
    this.#lastAt = performance.now();
    rate.begin(chunk.scans.reduce((sum, scan) => sum + weighScan(scan), 0));
    void this.#run(chunk);
    return true;
  }

  async #run({ scans, wait: { signal, deadline }, resolve }: Chunk): Promise<void> {
    this.#underWay += 1;
    // The caller compares the clock, too: after a stall no timer may have told that the caller has gone.
    const isAwaited = () => !signal.aborted && Date.now() < deadline;
    resolve(isAwaited() ? await this.#decide(scans, isAwaited) : scans.map(() => undecided));
    this.#underWay -= 1;
    this.#options.onReady();
  }

  async #decide(scans: readonly ArrivedScan[], isAwaited: IsAwaited): Promise<readonly Decision[]> {
    try {
      return await this.#options.decide(scans, isAwaited);
    } catch (error) {
      this.#options.onFailure(error, scans.length);
      return scans.length === 1 || isOutage(error) ? scans.map(() => undecided) : this.#decideAlone(scans, isAwaited);
    }
  }

  /** One bad scan must not fail the others. Behind a scan that has no answer yet none is decided: both may be of one ticket. */
  async #decideAlone(scans: readonly ArrivedScan[], isAwaited: IsAwaited): Promise<readonly Decision[]> {
    const decisions: Decision[] = [];
    for (const scan of scans) {
      const [decision = undecided] = await this.#decide([scan], isAwaited);
      decisions.push(decision);
      if (!isOutcome(decision)) break;
    }
    return scans.map((_, index) => decisions[index] ?? queuedBehind);
  }
}

/** The first scan always has room. */
function cut(scans: readonly ArrivedScan[], most: number): readonly ArrivedScan[] {
  let weight = 0;
  const end = scans.findIndex((scan) => {
    const isFull = weight >= most;
    weight += weighScan(scan);
    return isFull;
  });
  return end === -1 ? scans : scans.slice(0, end);
}
