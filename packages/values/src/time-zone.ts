import { Temporal } from "temporal-polyfill";
import type { Instant } from "./instant.ts";

/**
 * Whether a name is an IANA time zone, in its exact spelling.
 *
 * Offsets and `europe/berlin` are refused: scanning devices and databases need the exact letters.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch {
    return false;
  }
}

/** The offset of a time zone from UTC at an instant, in microseconds. Throws for an unknown zone. */
export function zoneOffset(instant: Instant, zone: string): number {
  return new Temporal.ZonedDateTime(BigInt(instant) * 1000n, zone).offsetNanoseconds / 1000;
}

/**
 * The same local time so many days later on the calendar of a time zone. A time that the clocks skip is as much later as
 * they skip; of a time that comes twice, the earlier one counts. Throws for an unknown zone.
 */
export function addDays(instant: Instant, { days, zone }: { readonly days: number; readonly zone: string }): Instant {
  const later = new Temporal.ZonedDateTime(BigInt(instant) * 1000n, zone).add({ days });
  return Number(later.epochNanoseconds / 1000n);
}
