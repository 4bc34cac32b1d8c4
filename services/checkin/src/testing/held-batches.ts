import { arrivedScan } from "@tessera/admission/testing/decisions";
import type { BatchesOptions, IsAwaited } from "../handlers/redeem/batch-options.ts";
import { createBatches } from "../handlers/redeem/batches.ts";
import type { conflict, Decision, queuedBehind } from "../handlers/redeem/decision.ts";
import { inWord } from "./start-checkin.ts";

/** The signal of a caller that waits. */
export const here: AbortSignal = new AbortController().signal;

/** An outcome by its name, or why there is none. */
type Said = string | typeof queuedBehind | typeof conflict;

const toDecision = (said: Said): Decision =>
  typeof said === "string"
    ? {
        outcome: { $case: "refused", value: { reason: said } },
        list: undefined,
        position: undefined,
        checkinTexts: [],
      }
    : said;

interface Held extends Partial<Omit<BatchesOptions, "decide">> {
  readonly patienceMs?: number;
  /** On how many lists each scan is. */
  readonly lists?: number;
  /** Called with nonces, which identify the scans of a test. */
  decide?(items: readonly string[]): Promise<Said[]>;
}

/** Batches that a test answers when it likes. A scan is written `code nonce`, or as one word for both. */
export function heldBatches({ decide, patienceMs = 1000, lists = 1, ...changes }: Held = {}) {
  const batches: {
    items: readonly string[];
    isAwaited: IsAwaited;
    answer(said?: Said[]): void;
    fail(error: unknown): void;
  }[] = [];
  const failures: number[] = [];
  const hold = (items: readonly string[], isAwaited: IsAwaited) =>
    new Promise<Said[]>((resolve, reject) => {
      batches.push({
        items,
        isAwaited,
        answer: (said = items.map((item) => item.toUpperCase())) => resolve(said),
        fail: reject,
      });
    });
  const decided = createBatches({
    decide: async (scans, isAwaited) =>
      (
        await (decide ?? hold)(
          scans.map(({ nonce }) => nonce ?? ""),
          isAwaited,
        )
      ).map(toDecision),
    onFailure: (_error, scans) => failures.push(scans),
    atOnce: 2,
    worthAnother: 1,
    batchSize: 4,
    longestQueue: 20,
    ...changes,
  });
  const submit = async (
    items: readonly string[],
    signal: AbortSignal,
    organizer = "o",
    deadline = Number.POSITIVE_INFINITY,
  ) => {
    const others = Array.from({ length: lists - 1 }, (_, index) => ({ event: `other${index}`, list: 1 }));
    const scans = items.map((item) =>
      arrivedScan({ rawCode: item.split(" ")[0] ?? "", nonce: item, organizer, others }),
    );
    const wait = { signal, deadline, patienceMs };
    const answers = await Promise.all(scans.map((scan) => decided.submit(scan, wait)));
    return answers.map((answer) => {
      if (typeof answer === "symbol") return answer.description;
      return "toLink" in answer ? "to link" : inWord(answer);
    });
  };
  return { submit, decided, batches, failures };
}

export const numbered = (count: number) => Array.from({ length: count }, (_, index) => `i${index}`);

/** Lets everything run that is ready. */
export const turn = async () => {
  for (let index = 0; index < 3; index += 1) await new Promise((resolve) => setImmediate(resolve));
};
