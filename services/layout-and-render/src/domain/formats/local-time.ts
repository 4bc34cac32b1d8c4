import { type Instant, zoneOffset } from "@tessera/values";

/** A local date and time. */
export interface LocalTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
  /** The instant at which UTC shows the same date and time, for Intl. */
  readonly sameInUtc: Date;
}

/** Converts an instant to the local time of a zone. Throws for an unknown zone. */
export function toLocalTime(instant: Instant, zone: string): LocalTime {
  return ofUtc(new Date(Math.floor((instant + zoneOffset(instant, zone)) / 1000)));
}

/** Reads `2026-07-01`; undefined: not a day. */
export function readDay(text: string): LocalTime | undefined {
  const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text) ?? [];
  const read = atMidnight(Number(year), Number(month), Number(day));
  const isDay = read.month === Number(month) && read.day === Number(day);
  return isDay ? read : undefined;
}

/** Reads `20:05` or `20:05:00`; undefined: not a time. */
export function readTime(text: string): LocalTime | undefined {
  const [, hour, minute] = /^([01]\d|2[0-3]):([0-5]\d)(?::[0-5]\d(?:\.\d{1,6})?)?$/.exec(text) ?? [];
  if (hour === undefined || minute === undefined) return undefined;
  return ofUtc(new Date((Number(hour) * 60 + Number(minute)) * 60_000));
}

function atMidnight(year: number, month: number, day: number): LocalTime {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return ofUtc(date);
}

function ofUtc(date: Date): LocalTime {
  return {
    year: date.getUTCFullYear(),
    month: date.getUTCMonth() + 1,
    day: date.getUTCDate(),
    weekday: date.getUTCDay(),
    hour: date.getUTCHours(),
    minute: date.getUTCMinutes(),
    sameInUtc: date,
  };
}
