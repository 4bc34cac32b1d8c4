import { formatInstant } from "@tessera/values";
import { type Sql, sql } from "./sql.ts";

/**
 * Reads the output of Postgres: `2026-11-21 10:00:00.123456+00` (the zone of the session is always UTC).
 *
 * An instant is whole microseconds since 1970 in a number, exact from 1684 to 2255. Outside, from year 1 to year 9999,
 * it is the nearest number; numbers are at most 32 microseconds apart there, and whole seconds stay exact.
 */
export function parseTimestamp(text: string): number {
  const match = /^(\d{4})-(\d\d)-(\d\d) (\d\d):(\d\d):(\d\d)(?:\.(\d{1,6}))?\+00$/.exec(text);
  if (match === null) throw new RangeError("timestamp outside the years 0001 to 9999");
  const [, year, month, day, hour, minute, second, fraction = ""] = match;
  const seconds = Date.UTC(Number(year), Number(month) - 1, Number(day), Number(hour), Number(minute), Number(second));
  // Date.UTC reads the years 0 to 99 as 1900 to 1999.
  const early = Number(year) < 100 ? new Date(seconds).setUTCFullYear(Number(year)) : seconds;
  return early * 1000 + Number(fraction.padEnd(6, "0"));
}

/** Writes an instant as Postgres reads it, for a parameter cast to timestamptz: always with six digits, so that texts sort like instants. */
export function toTimestamp(instant: number): string {
  const text = formatInstant(instant);
  return text.includes(".") ? text : text.replace("Z", ".000000Z");
}

/** The same for a column that may be empty. */
export function toNullableTimestamp(instant: number | null | undefined): string | null {
  return instant === null || instant === undefined ? null : toTimestamp(instant);
}

/** An instant of Postgres as microseconds since 1970, for JSON and for calculations. */
export const inMicroseconds = (instant: Sql): Sql => sql`(extract(epoch from ${instant}) * 1000000)::bigint`;
