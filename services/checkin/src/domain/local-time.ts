import type { Instant } from "@tessera/values";

/**
 * What a wall clock and a calendar show: whole microseconds from 1970-01-01T00:00 on that wall, every day of 24 hours.
 *
 * Dates are sums: `local + dayLength` is the same time of the next day, `startOfDay(local)` its midnight.
 */
export type LocalDateTime = number;

/** A day on the wall, in microseconds. Days between instants may be shorter or longer. */
export const dayLength = 86_400_000_000;

const second = 1_000_000;

/** Reads the wall clock of the zone at an instant. */
export function toLocal(instant: Instant, zone: string): LocalDateTime {
  return instant + offsetAt(instant, zone);
}

/**
 * Finds the instant at which the wall clock of the zone shows this.
 *
 * A time that the clocks skip is as much later as they skip. Of a time that comes twice, the caller says which counts.
 */
export function toInstant(
  local: LocalDateTime,
  zone: string,
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

/** Since then offsets have changed at quarters of an hour UTC alone; before, there were zones that changed at any second. */
const quartersSince = Date.UTC(1973, 0, 1) * 1000;
const quarterLength = 900 * second;

/** A year has 35,000 quarters of an hour, but people come to an event in a few of them. */
const mostQuarters = 5000;

interface Zone {
  readonly format: Intl.DateTimeFormat;
  readonly offsets: Map<number, number>;
}

/** One for each time zone that occurs, of which there are some hundred. */
const zones = new Map<string, Zone>();

/** How far the wall clock of the zone is ahead of UTC, in microseconds. */
function offsetAt(instant: Instant, name: string): number {
  const zone = zones.get(name) ?? addZone(name);
  if (instant < quartersSince) return askOffset(instant, zone);
  const quarter = Math.floor(instant / quarterLength);
  let offset = zone.offsets.get(quarter);
  if (offset === undefined) {
    offset = askOffset(quarter * quarterLength, zone);
    if (zone.offsets.size >= mostQuarters) zone.offsets.clear();
    zone.offsets.set(quarter, offset);
  }
  return offset;
}

function addZone(name: string): Zone {
  const format = new Intl.DateTimeFormat("en-US", {
    timeZone: name,
    calendar: "iso8601",
    numberingSystem: "latn",
    timeZoneName: "longOffset",
  });
  const zone = { format, offsets: new Map<number, number>() };
  zones.set(name, zone);
  return zone;
}

function askOffset(instant: Instant, { format }: Zone): number {
  const text = format.format(Math.floor(instant / second) * 1000);
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = /GMT(?:([+-])(\d+):(\d+)(?::(\d+))?)?$/.exec(text) ?? [];
  const offset = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * second;
  return sign === "-" ? -offset : offset;
}
