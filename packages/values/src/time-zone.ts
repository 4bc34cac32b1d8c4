import { Temporal } from "temporal-polyfill";
import type { Instant } from "./instant.ts";

/**
 * Tells whether a name is one of the IANA time zones, in their own spelling.
 *
 * Offsets do not count, and neither does `europe/berlin`: scanning devices and databases look names up by their exact letters.
 */
export function isTimeZone(name: string): boolean {
  if (!/^[A-Za-z][A-Za-z0-9_+/-]*$/.test(name)) return false;
  try {
    return new Temporal.ZonedDateTime(0n, name).timeZoneId === name;
  } catch {
    return false;
  }
}

/** How far the wall clock of a time zone is ahead of UTC at an instant, in microseconds. Throws where there is no such zone. */
export function zoneOffset(instant: Instant, zone: string): number {
  return new Temporal.ZonedDateTime(BigInt(instant) * 1000n, zone).offsetNanoseconds / 1000;
}
