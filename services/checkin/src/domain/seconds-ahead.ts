/** Clocks may differ by so much before it is reported. */
const toleratedMicros = 5 * 60 * 1_000_000;

/** Returns by how many seconds a scan is dated in the future, where that is more than clocks differ. */
export function secondsAhead({ at, now }: { readonly at: number; readonly now: number }): number | undefined {
  const ahead = at - now;
  return ahead > toleratedMicros ? Math.round(ahead / 1_000_000) : undefined;
}
