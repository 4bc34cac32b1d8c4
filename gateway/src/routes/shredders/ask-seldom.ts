import { runInContext } from "@tessera/kit/context";

/**
 * Caches the answer of a costly call, and a failure for a shorter time. Concurrent callers share one call, which has no
 * caller's deadline or abort signal.
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
