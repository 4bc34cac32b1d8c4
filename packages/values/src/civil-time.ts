import { Temporal } from "temporal-polyfill";
import type { Instant } from "./instant.ts";

/**
 * Tells whether a name is one of the IANA time zones, in their own spelling.
 *
 * Offsets are none, and neither is `europe/berlin`: scanning devices and databases look names up by their exact letters.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch {
    return false;
  }
}

/**
 * Finds the same wall-clock time on the next calendar day of the zone.
 *
 * A time that the clocks skip that day is as much later as they skip (an hour, nearly everywhere); of a time that comes
 * twice the later one counts. `localTime` (see `localTimeOf`) names the wanted time where the instant itself is the
 * result of a skip, so that the day after returns to it.
 */
export function sameLocalTimeNextDay(instant: Instant, zone: string, localTime?: string): Instant {
  const local = inZone(instant, zone).toPlainDateTime();
  const wanted = localTime === undefined ? local : local.withPlainTime(Temporal.PlainTime.from(localTime));
  return toInstant(wanted.add({ days: 1 }).toZonedDateTime(zone, { disambiguation: "later" }));
}

/** Reads the wall clock of the zone: `18:30:00`, with a fraction where there is one. */
export function localTimeOf(instant: Instant, zone: string): string {
  return inZone(instant, zone).toPlainTime().toString();
}

/** Finds the first moment of the instant's calendar day in the zone, which is not midnight where the clocks skip it. */
export function startOfLocalDay(instant: Instant, zone: string): Instant {
  return toInstant(inZone(instant, zone).startOfDay());
}

function inZone(instant: Instant, zone: string): Temporal.ZonedDateTime {
  return new Temporal.ZonedDateTime(BigInt(instant) * 1000n, zone);
}

function toInstant(moment: Temporal.ZonedDateTime): Instant {
  return Number(moment.epochNanoseconds / 1000n);
}
