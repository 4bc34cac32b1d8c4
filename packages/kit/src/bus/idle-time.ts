/**
 * An idle relay spends at most one part in eleven of its time with reading. While an old snapshot keeps Postgres from
 * vacuuming, each read goes through all rows that were deleted since. A read around busy lanes goes through their rows.
 */
const lookingShare = 10;

/** The longest pause: a read also takes long when the database does not answer for a while. */
const longestIdleMs = 2000;

export function idleMs(tookMs: number): number {
  return Math.min(longestIdleMs, lookingShare * tookMs);
}
