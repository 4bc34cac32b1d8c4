import { runInContext } from "../context.ts";

/**
 * Shares one read among callers: those that ask while it runs, and those within `keptMs` of its start. A failure reaches the callers that
 * wait for it, and is not cached.
 *
 * The read runs without the context of a caller: other callers still wait when that one is aborted.
 */
export function shareAnswers<T>({
  keptMs,
  longestMs,
  most,
}: {
  /** How long an answer is shared, from the start of its read. */
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
