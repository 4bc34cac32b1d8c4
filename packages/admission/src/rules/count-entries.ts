import type { Instant } from "@tessera/values";
import { dayLength, toLocal, type Zone } from "../local-time.ts";

/** The number of local dates on which a ticket was let in, for every split of its entries. */
export interface EntryDays {
  /** At n: the dates of the newest n entries. */
  readonly ofNewest: readonly number[];
  /** At n: the dates of all entries but the newest n. */
  readonly ofOthers: readonly number[];
}

/** Counts the entries not before a moment; entries are newest first. */
export function countSince(entries: readonly Instant[], moment: Instant): number {
  let from = 0;
  let to = entries.length;
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((entries[middle] ?? moment) >= moment) from = middle + 1;
    else to = middle;
  }
  return from;
}

/** Counts the dates of entries once, so that no rule has to iterate over the entries. */
export function countDays(entries: readonly Instant[], zone: Zone): EntryDays {
  // A clock that is put back over midnight shows a past date again, so equal dates need not be adjacent.
  const dates = entries.map((at) => Math.floor(toLocal(at, zone) / dayLength));
  return { ofNewest: countDistinct(dates), ofOthers: countDistinct(dates.toReversed()).toReversed() };
}

/** At n: how many of the first n are distinct. */
function countDistinct(dates: readonly number[]): number[] {
  const seen = new Set<number>();
  return [0, ...dates.map((date) => seen.add(date).size)];
}
