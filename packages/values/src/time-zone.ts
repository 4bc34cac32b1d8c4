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
