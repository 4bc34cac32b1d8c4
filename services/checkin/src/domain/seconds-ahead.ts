/** The clock skew between device and server that is not reported. */
const toleratedMicros = 5 * 60 * 1_000_000;

/** Returns how many seconds a scan is dated in the future, where that exceeds the tolerated clock skew. */
export function secondsAhead({ at, now }: { readonly at: number; readonly now: number }): number | undefined {
  const ahead = at - now;
  return ahead > toleratedMicros ? Math.round(ahead / 1_000_000) : undefined;
}
