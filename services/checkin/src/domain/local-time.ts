import { type Instant, isTimeZone, zoneOffset } from "@tessera/values";

/**
 * What a wall clock and a calendar show: whole microseconds from 1970-01-01T00:00 on that wall, every day of 24 hours.
 *
 * Dates are sums: `local + dayLength` is the same time of the next day, `startOfDay(local)` its midnight.
 */
export type LocalDateTime = number;

/** A day on the wall, in microseconds. Days between instants may be shorter or longer. */
export const dayLength = 86_400_000_000;

const second = 1_000_000;

/** Years are 1 to 9999, of instants as of what a wall clock shows. */
export const earliest = -62_135_596_800 * second;
export const latest = 253_402_300_799 * second;

/** Reads the wall clock of the zone at an instant. */
export function toLocal(instant: Instant, zone: Zone): LocalDateTime {
  return instant + offsetAt(instant, zone);
}

/**
 * Finds the instant at which the wall clock of the zone shows this.
 *
 * A time that the clocks skip is as much later as they skip. Of a time that comes twice, the caller says which counts.
 */
export function toInstant(
  local: LocalDateTime,
  zone: Zone,
  { ambiguous }: { readonly ambiguous: "earlier" | "later" },
): Instant {
  // A day to both sides is beyond every offset, and clocks are not changed twice within two days.
  const before = offsetAt(local - dayLength, zone);
  const after = offsetAt(local + dayLength, zone);
  if (before === after) return local - before;
  const isBefore = offsetAt(local - before, zone) === before;
  const isAfter = offsetAt(local - after, zone) === after;
  if (isBefore && isAfter) return ambiguous === "earlier" ? local - before : local - after;
  return isAfter ? local - after : local - before;
}

/** Finds midnight of the day. */
export function startOfDay(local: LocalDateTime): LocalDateTime {
  return Math.floor(local / dayLength) * dayLength;
}

/** Numbers the day of the week as ISO 8601 does: 1 for Monday to 7 for Sunday. */
export function isoWeekday(local: LocalDateTime): number {
  const sinceThursday = Math.floor(local / dayLength) % 7;
  return ((sinceThursday + 7 + 3) % 7) + 1;
}

/** A day UTC, on which the clocks of a zone are changed once at most, at whatever second. */
interface ZoneDay {
  readonly before: number;
  readonly after: number;
  readonly changedAt: Instant;
}

/** More than ten years for each zone; people come to an event on a few days. */
const mostDays = 5000;

/** A time zone, with the days that its clock was read on: to read one takes a hundred times longer than to remember it. */
export interface Zone {
  readonly name: string;
  readonly days: Map<number, ZoneDay>;
}

/** Opens the time zone of this name; null where no time zone has this name. */
export function openZone(name: string): Zone | null {
  return isTimeZone(name) ? { name, days: new Map() } : null;
}

/** How far the wall clock of the zone is ahead of UTC, in microseconds. */
function offsetAt(instant: Instant, { name, days }: Zone): number {
  const number = Math.floor(instant / dayLength);
  let day = days.get(number);
  if (day === undefined) {
    day = askDay(number * dayLength, name);
    if (days.size >= mostDays) days.clear();
    days.set(number, day);
  }
  return instant < day.changedAt ? day.before : day.after;
}

function askDay(start: Instant, zone: string): ZoneDay {
  let unchanged = start;
  let changedAt = start + dayLength - second;
  const before = zoneOffset(unchanged, zone);
  const after = zoneOffset(changedAt, zone);
  if (before === after) return { before, after, changedAt: start };
  while (changedAt - unchanged > second) {
    const middle = unchanged + Math.floor((changedAt - unchanged) / second / 2) * second;
    if (zoneOffset(middle, zone) === before) unchanged = middle;
    else changedAt = middle;
  }
  return { before, after, changedAt };
}
