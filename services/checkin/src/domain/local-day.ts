import { dayLength, type LocalDateTime, toInstant, toLocal, type Zone } from "@tessera/admission";
import { formatInstant, type Instant, parseInstant } from "@tessera/values";

/** A day on the calendar of a time zone. */
export interface LocalDay {
  /** `2026-11-21`. */
  readonly date: string;
  readonly since: Instant;
  readonly before: Instant;
}

/** The day of a date; undefined: the calendar has no such date. A day whose clocks skip midnight begins when they have. */
export function findDay(date: string, zone: Zone): LocalDay | undefined {
  const local = /^\d{4}-\d\d-\d\d$/.test(date) ? parseInstant(date) : undefined;
  // On the first and the last day of the calendar the clocks of some zone are beyond it.
  if (local === undefined || date < "0002" || date > "9999") return undefined;
  const midnight = (of: LocalDateTime) => toInstant(of, zone, { ambiguous: "earlier" });
  return { date, since: midnight(local), before: midnight(local + dayLength) };
}

export function dayOf(at: Instant, zone: Zone): LocalDay | undefined {
  return findDay(formatInstant(toLocal(at, zone)).slice(0, 10), zone);
}

export const quarterLength = 900_000_000;

/** How many quarters of an hour a day has: 92 or 100 where the clocks move by an hour. */
function countQuarters({ since, before }: LocalDay): number {
  return Math.ceil((before - since) / quarterLength);
}

export function wallClock(at: Instant, zone: Zone): string {
  return formatInstant(toLocal(at, zone)).slice(11, 16);
}

/** How many came in or went out within a second of the day: tickets whose state on a list has changed. */
export interface Step {
  readonly second: number;
  readonly change: number;
}

export interface Inside {
  /** At the end of each quarter. */
  readonly atEnds: readonly number[];
  readonly peak: number;
  /** The end of the second with the first peak; the beginning of the day where that is the peak. */
  readonly peakAt: Instant;
}

/** Follows how many are inside, from those who were when the day began. The steps are in order. */
export function followInside(
  day: LocalDay,
  { before, steps }: { readonly before: number; steps: readonly Step[] },
): Inside {
  const atEnds = new Array<number>(countQuarters(day)).fill(0);
  let [inside, peak, peakAt, next] = [before, before, day.since, 0];
  for (const quarter of atEnds.keys()) {
    const end = ((quarter + 1) * quarterLength) / 1_000_000;
    for (let step = steps[next]; step !== undefined && step.second < end; step = steps[++next]) {
      inside += step.change;
      if (inside <= peak) continue;
      [peak, peakAt] = [inside, Math.min(day.since + (step.second + 1) * 1_000_000, day.before)];
    }
    atEnds[quarter] = inside;
  }
  return { atEnds, peak, peakAt };
}
