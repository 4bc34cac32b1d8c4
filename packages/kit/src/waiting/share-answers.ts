import { runInContext } from "../context.ts";

/**
 * Lets all who ask for the same within a time, or before it is there, have one answer. A failure is told to those who wait for it, and not kept.
 *
 * The read runs without the context of a caller: others wait for the same answer when that one leaves.
 */
export function shareAnswers<T>({
  keptMs,
  longestMs,
  most,
}: {
  /** From when it is asked for. */
  readonly keptMs: number;
  /** When a read is given up. */
  readonly longestMs: number;
  /** Answers that are kept; beyond it the oldest goes. */
  readonly most: number;
}): (key: string, read: () => Promise<T>) => Promise<T> {
  const kept = new Map<string, { readonly until: number; readonly answer: Promise<T>; isPending: boolean }>();
  return (key, read) => {
    const now = performance.now();
    const known = kept.get(key);
    if (known !== undefined && (known.isPending || known.until > now)) return known.answer;
    const answer = runInContext({ signal: AbortSignal.timeout(longestMs) }, read);
    const entry = { until: now + keptMs, answer, isPending: true };
    kept.delete(key);
    kept.set(key, entry);
    for (const oldest of kept.keys()) {
      if (kept.size <= most) break;
      kept.delete(oldest);
    }
    answer.then(
      () => {
        entry.isPending = false;
      },
      () => {
        if (kept.get(key) === entry) kept.delete(key);
      },
    );
    return answer;
  };
}
