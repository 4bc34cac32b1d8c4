import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "@tessera/kit/telemetry/log";
import { waitForDatabase } from "../store/wait-for-database.ts";
import type { AnswerStore } from "./repeat-answers.ts";

export interface EndOptions {
  readonly log: Log;
  /** How long a request waits for the store. */
  readonly patienceMs?: number;
  /** The pauses before retries of a failed write. */
  readonly pausesMs?: readonly number[];
}

/** Together less than the lease of a claim, after which the request can be retried anyway. */
const usualPausesMs = [500, 2000, 5000, 15_000, 30_000];

/** Claims that wait for a retry are kept in memory. */
const mostWaiting = 1000;

/**
 * Releases every claim with its request, however slow the store is: otherwise a repetition would be refused until the
 * lease expires. A claim that is granted after its request has ended is released, and failed writes are retried in the
 * background.
 */
export function endClaims(store: AnswerStore, { log, patienceMs, pausesMs = usualPausesMs }: EndOptions): AnswerStore {
  const wait = <T>(answer: Promise<T>) => waitForDatabase(answer, patienceMs === undefined ? {} : { ms: patienceMs });
  let waiting = 0;

  /** Never rejects; resolves after the first try. */
  async function end(write: () => Promise<void>): Promise<void> {
    await wait(write()).catch((error: unknown) => void endLater(write, error));
  }

  async function endLater(write: () => Promise<void>, first: unknown): Promise<void> {
    let failure = first;
    if (waiting < mostWaiting) {
      waiting += 1;
      for (const pauseMs of pausesMs) {
        // A stopping process does not wait for this.
        await sleep(pauseMs, undefined, { ref: false });
        failure = await wait(write()).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure === undefined) break;
      }
      waiting -= 1;
    }
    // Harmless: the effect is stored with its request id, so a repetition gets the same answer.
    if (failure !== undefined) log.warn("a claim of an idempotency key could not be ended", { error: failure });
  }

  return {
    async claim(use) {
      const claiming = store.claim(use);
      try {
        return await wait(claiming);
      } catch (error) {
        claiming.then(
          (late) => (late.kind === "claimed" ? end(() => store.release(late.claim)) : undefined),
          () => {},
        );
        throw error;
      }
    },
    find: (use) => wait(store.find(use)),
    keep: (claim, answer) => end(() => store.keep(claim, answer)),
    release: (claim) => end(() => store.release(claim)),
    isFull: (caller) => store.isFull(caller),
  };
}
