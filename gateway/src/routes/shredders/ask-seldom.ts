import { runInContext } from "@tessera/kit/context";

/**
 * Makes a question of one that costs a call: its answer is kept, and a failure for a shorter time. All who ask meanwhile share
 * one call. It belongs to none of them, so that it does not fail when one goes away.
 */
export function askSeldom<T>(
  ask: () => Promise<T>,
  { keptMs, failedMs }: { readonly keptMs: number; readonly failedMs: number },
): () => Promise<T> {
  let last: { readonly answer: Promise<T>; until: number } | undefined;
  return () => {
    if (last !== undefined && Date.now() < last.until) return last.answer;
    const asked = { answer: runInContext({}, ask), until: Number.POSITIVE_INFINITY };
    last = asked;
    const keepFor = (ms: number) => () => {
      asked.until = Date.now() + ms;
    };
    asked.answer.then(keepFor(keptMs), keepFor(failedMs));
    return asked.answer;
  };
}
