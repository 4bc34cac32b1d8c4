import { formatInstant, type Instant, parseInstant } from "@tessera/values";
import { toInstant, toLocal, type Zone } from "../local-time.ts";
import { type ClockTime, formatOffset, readClock, readDay } from "./calendar-forms.ts";
import type { Limits } from "./question.ts";
import type { WritingHabits } from "./writing-habits.ts";

const midnight: ClockTime = { time: "00:00:00", microseconds: 0, offset: undefined };

/**
 * Reads a day with a time, midnight if there is no time, and writes `2018-01-16 15:20:00+01:00`.
 *
 * A time with an offset from UTC keeps it; any other time is on the wall clock of the zone. A time that the clock skips
 * is moved forward by the length of the gap; of a time that comes twice the first counts.
 */
export function readMoment(
  typed: string,
  {
    zone,
    habits,
    limits,
  }: { readonly zone: Zone | null; readonly habits: WritingHabits; readonly limits: Limits<string> },
): string | undefined {
  const read = readDay(typed, habits);
  if (read === undefined) return undefined;
  const clock = read.rest === "" ? midnight : readClock(read.rest);
  if (clock === undefined) return undefined;
  // Whole seconds are exact in every year, so the fraction is kept apart.
  const shown = instantOf(`${read.day}T${clock.time}Z`);
  const wallClock = clock.offset === undefined ? requireZone(zone) : undefined;
  const instant =
    wallClock === undefined
      ? shown - (clock.offset ?? 0) * microsecondsPerSecond
      : toInstant(shown, wallClock, { ambiguous: "earlier" });
  if (instant < earliest || instant > latest || !isWithin(instant, clock.microseconds, limits)) return undefined;
  const local = wallClock === undefined ? shown : toLocal(instant, wallClock);
  const wall = formatInstant(local).slice(0, 19).replace("T", " ");
  const fraction = clock.microseconds === 0 ? "" : `.${String(clock.microseconds).padStart(6, "0")}`;
  return `${wall}${fraction}${formatOffset((local - instant) / microsecondsPerSecond)}`;
}

const microsecondsPerSecond = 1_000_000;

function isWithin(instant: Instant, microseconds: number, { least, most }: Limits<string>): boolean {
  const exact = instant + microseconds;
  // Very distant times have no room for the fraction in a number: it is cut off, as in the limits.
  const value = Number.isSafeInteger(exact) ? exact : instant;
  return (least === null || value >= instantOf(least)) && (most === null || value <= instantOf(most));
}

function instantOf(text: string): Instant {
  const instant = parseInstant(text);
  if (instant === undefined) throw new RangeError(`${text} is no moment`);
  return instant;
}

const earliest = instantOf("0001-01-01T00:00:00Z");
const latest = instantOf("9999-12-31T23:59:59Z");

function requireZone(zone: Zone | null): Zone {
  if (zone === null) throw new RangeError("the event has no known time zone to read a moment in");
  return zone;
}
