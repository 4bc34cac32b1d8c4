import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "@tessera/kit/log";
import { waitForDatabase } from "../store/wait-for-database.ts";
import type { AnswerStore } from "./repeat-answers.ts";

export interface SettleOptions {
  readonly log: Log;
  /** How long a request waits for its store. */
  readonly patienceMs?: number;
  /** The pauses before retries of a failed write. */
  readonly pausesMs?: readonly number[];
}

/** Together less than the lease of a claim, after which the request can be retried anyway. */
const usualPausesMs = [500, 2000, 5000, 15_000, 30_000];

/** Claims that wait for a retry are kept in memory. */
const mostUnsettled = 1000;

/**
 * Releases every claim with its request, however slow the store is: otherwise a repetition would be refused until the
 * lease ends. A claim that arrives after its request has ended is released, and failed writes are retried while the
 * request is answered.
 */
export function settleClaims(
  store: AnswerStore,
  { log, patienceMs, pausesMs = usualPausesMs }: SettleOptions,
): AnswerStore {
  const wait = <T>(answer: Promise<T>) => waitForDatabase(answer, patienceMs === undefined ? {} : { ms: patienceMs });
  let unsettled = 0;

  /** Never rejects; resolves after the first try. */
  async function settle(write: () => Promise<void>): Promise<void> {
    await wait(write()).catch((error: unknown) => void settleLater(write, error));
  }

  async function settleLater(write: () => Promise<void>, first: unknown): Promise<void> {
    let failure = first;
    if (unsettled < mostUnsettled) {
      unsettled += 1;
      for (const pauseMs of pausesMs) {
        // A stopping process does not wait for this.
        await sleep(pauseMs, undefined, { ref: false });
        failure = await wait(write()).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure === undefined) break;
      }
      unsettled -= 1;
    }
    // The effect is stored with its request id, so a repetition gets the same answer even if it could not be kept.
    if (failure !== undefined) log.warn("a claim of an idempotency key could not be settled", { error: failure });
  }

  return {
    async claim(use) {
      const claiming = store.claim(use);
      try {
        return await wait(claiming);
      } catch (error) {
        claiming.then(
          (late) => (late.kind === "claimed" ? settle(() => store.release(late.claim)) : undefined),
          () => {},
        );
        throw error;
      }
    },
    find: (use) => wait(store.find(use)),
    keep: (claim, answer) => settle(() => store.keep(claim, answer)),
    release: (claim) => settle(() => store.release(claim)),
  };
}
