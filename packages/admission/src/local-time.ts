import { type Instant, isTimeZone, zoneOffset } from "@tessera/values";

/**
 * A wall-clock time without a zone: whole microseconds from 1970-01-01T00:00 on that clock, every day of 24 hours.
 *
 * Dates are sums: `local + dayLength` is the same time of the next day, `startOfDay(local)` its midnight.
 */
export type LocalDateTime = number;

/** A wall-clock day in microseconds. The time between two instants of it may be shorter or longer. */
export const dayLength = 86_400_000_000;

const second = 1_000_000;

/** Instants and wall clocks are limited to the years 1 to 9999. */
export const earliest = -62_135_596_800 * second;
export const latest = 253_402_300_799 * second;

/** Reads the wall clock of the zone at an instant. */
export function toLocal(instant: Instant, zone: Zone): LocalDateTime {
  return instant + offsetAt(instant, zone);
}

/**
 * Finds the instant at which the wall clock of the zone shows this time.
 *
 * A time that the clocks skip is moved forward by the length of the gap. For a time that comes twice, the caller
 * chooses.
 */
export function toInstant(
  local: LocalDateTime,
  zone: Zone,
  { ambiguous }: { readonly ambiguous: "earlier" | "later" },
): Instant {
  // A day before and after is beyond every offset, and no zone changes its clocks twice within two days.
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

/** A UTC day, on which a zone changes its clocks at most once, at any second. */
interface ZoneDay {
  readonly before: number;
  readonly after: number;
  readonly changedAt: Instant;
}

/** More than ten years for each zone; visitors come on few days. */
const mostDays = 5000;

/** A time zone with a cache of its days: to ask Intl takes a hundred times longer than to remember. */
export interface Zone {
  readonly name: string;
  readonly days: Map<number, ZoneDay>;
}

/** Opens the time zone of this name; null: there is no such time zone. */
export function openZone(name: string): Zone | null {
  return isTimeZone(name) ? { name, days: new Map() } : null;
}

/** The offset of the zone from UTC, in microseconds. */
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
