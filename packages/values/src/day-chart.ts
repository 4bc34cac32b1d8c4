/** What is drawn of a quarter of an hour. */
interface Counted {
  readonly entries: number;
  readonly exits: number;
  readonly refusals: number;
}

/** Whether there was any. */
export const hasScans = ({ entries, exits, refusals }: Counted) => entries + exits + refusals > 0;

/** From an hour before the first scan of a day to an hour after the last one; of a day without scans all. */
export function busyQuarters<Q>(quarters: readonly Q[], countsOf: (quarter: Q) => Counted): readonly Q[] {
  const isBusy = (quarter: Q) => hasScans(countsOf(quarter));
  const first = quarters.findIndex(isBusy);
  return first < 0 ? quarters : quarters.slice(Math.max(0, first - 4), quarters.findLastIndex(isBusy) + 5);
}

/** Which quarters a chart names, by the time on the wall clock: full hours, evenly, and at most so many of them. */
export function namedHours(
  quarters: readonly { readonly local: string }[],
  { most }: { readonly most: number },
): readonly { readonly local: string; readonly index: number }[] {
  const full = quarters.flatMap(({ local }, index) => (local.endsWith(":00") ? [{ local, index }] : []));
  const every = Math.ceil(full.length / most);
  return full.filter((_, number) => number % every === 0);
}
