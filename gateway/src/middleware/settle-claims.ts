import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "@tessera/kit/log";
import { waitForDatabase } from "../store/wait-for-database.ts";
import type { AnswerStore } from "./repeat-answers.ts";

export interface SettleOptions {
  readonly log: Log;
  /** How long a request waits for its store. */
  readonly patienceMs?: number;
  /** What could not be written is tried again after each of these. */
  readonly pausesMs?: readonly number[];
}

/** Together less than a claim lasts, after which the request can be taken on again anyway. */
const usualPausesMs = [500, 2000, 5000, 15_000, 30_000];

/** Whatever waits for its next try is kept in memory. */
const mostUnsettled = 1000;

/**
 * Sees to it that no claim outlives its request, whatever the store takes for its answers: left alone, a repetition would
 * be refused until the lease ends. A claim that comes when nobody waits for it any more is given back, and what cannot be
 * written at once is tried again while its request is answered.
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
        // A process that ends does not wait for this.
        await sleep(pauseMs, undefined, { ref: false });
        failure = await wait(write()).then(
          () => undefined,
          (error: unknown) => error,
        );
        if (failure === undefined) break;
      }
      unsettled -= 1;
    }
    // The effect stands with its request id, so a repetition finds the answer again where it could not be kept.
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
