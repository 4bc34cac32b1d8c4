import { Temporal } from "temporal-polyfill";

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
