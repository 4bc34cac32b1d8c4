import { parseInstant } from "@tessera/values";

/** A time of day on a wall clock. */
export interface ClockTime {
  /** `15:20:00` */
  readonly time: string;
  /** The fraction of the second. */
  readonly microseconds: number;
  /** The offset from UTC in seconds, positive to the east; undefined: none was written. */
  readonly offset: number | undefined;
}

/** No date that is written is longer. */
const mostCharacters = 100;

const weekday = "(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*\\.?,?\\s+)?";
const monthName = "(?<name>[a-z]{3,9})";
const year = "(?<year>\\d{4})";
const dayOfMonth = "(?<day>\\d{1,2})";
/** After a day follows nothing or a time, never more digits. */
const end = "(?:$|(?:t|,?\\s+)(?=\\S)(?<rest>.*)$)";

/** Tried in order; the first form that matches decides. */
const dayForms: readonly RegExp[] = [
  `${year}(?<by>[-/.])(?<month>\\d{1,2})\\k<by>${dayOfMonth}`,
  `${year}(?<month>\\d{2})(?<day>\\d{2})`,
  `${dayOfMonth}\\.\\s?(?<month>\\d{1,2})\\.\\s?${year}`,
  `(?<first>\\d{1,2})(?<by>[-/])(?<second>\\d{1,2})\\k<by>${year}`,
  `${weekday}${dayOfMonth}(?:st|nd|rd|th|\\.)?[\\s-]\\s*${monthName}\\.?,?[\\s-]\\s*${year}`,
  `${weekday}${monthName}\\.?\\s+${dayOfMonth}(?:st|nd|rd|th)?,?\\s+${year}`,
].map((form) => new RegExp(`^${form}${end}`, "is"));

const clockForm =
  /^(?:t)?(?<hour>\d{1,2})(?:(?<by>[:.h])(?<minute>\d{2})(?:\k<by>(?<second>\d{2})(?:[.,](?<fraction>\d{1,12}))?)?)?(?:\s*(?<half>[ap])\.?m\.?)?(?:\s*(?<zone>z|utc|gmt|[+-]\d\d(?::?\d\d(?::?\d\d)?)?))?$/i;

const monthNames = [
  "january",
  "february",
  "march",
  "april",
  "may",
  "june",
  "july",
  "august",
  "september",
  "october",
  "november",
  "december",
];

/** Reads a calendar day at the beginning of a text, `YYYY-MM-DD` before other forms; `rest` is what follows it. */
export function readDay(
  typed: string,
  { monthFirst }: { readonly monthFirst: boolean },
): { readonly day: string; readonly rest: string } | undefined {
  const text = typed.trim();
  if (text.length > mostCharacters) return undefined;
  for (const form of dayForms) {
    const groups = form.exec(text)?.groups;
    if (groups === undefined) continue;
    const [month, day] = monthAndDay(groups, { monthFirst });
    const written = `${groups.year}-${twoDigits(month)}-${twoDigits(day)}`;
    return exists(written) ? { day: written, rest: groups.rest ?? "" } : undefined;
  }
  return undefined;
}

/** Reads a time of day: `15:20`, `15:20:30.5`, `3 pm`, each also with an offset from UTC. */
export function readClock(typed: string): ClockTime | undefined {
  const text = typed.trim();
  if (text.length > mostCharacters) return undefined;
  const groups = clockForm.exec(text)?.groups;
  if (groups === undefined || (groups.minute === undefined && groups.half === undefined)) return undefined;
  const hour = hourOf(Number(groups.hour), groups.half?.toLowerCase());
  const minute = Number(groups.minute ?? 0);
  const second = Number(groups.second ?? 0);
  const offset = readOffset(groups.zone);
  if (hour === undefined || minute > 59 || second > 59 || offset === null) return undefined;
  return {
    time: [hour, minute, second].map(twoDigits).join(":"),
    microseconds: Number((groups.fraction ?? "").slice(0, 6).padEnd(6, "0")),
    offset,
  };
}

type Groups = Readonly<Record<string, string | undefined>>;

/** Numbers alone may not tell day from month; a number above twelve does. */
function monthAndDay(groups: Groups, { monthFirst }: { readonly monthFirst: boolean }): [number, number] {
  if (groups.name !== undefined) return [monthOf(groups.name.toLowerCase()), Number(groups.day)];
  if (groups.first === undefined) return [Number(groups.month), Number(groups.day)];
  const [first, second] = [Number(groups.first), Number(groups.second)];
  return first <= 12 && (monthFirst || second > 12) ? [first, second] : [second, first];
}

/** The month from 1 to 12; 0: no month has this name. */
function monthOf(name: string): number {
  if (name === "sept") return 9;
  return monthNames.findIndex((month) => month === name || month.slice(0, 3) === name) + 1;
}

function exists(day: string): boolean {
  return parseInstant(`${day}T00:00:00Z`) !== undefined;
}

function hourOf(hour: number, half: string | undefined): number | undefined {
  if (half === undefined) return hour > 23 ? undefined : hour;
  if (hour < 1 || hour > 12) return undefined;
  return (hour % 12) + (half === "p" ? 12 : 0);
}

/** Undefined: there is no offset. Null: the offset is impossible. */
function readOffset(zone: string | undefined): number | undefined | null {
  if (zone === undefined) return undefined;
  const [hours = 0, minutes = 0, seconds = 0] = (zone.match(/\d\d/g) ?? []).map(Number);
  if (hours > 23 || minutes > 59 || seconds > 59) return null;
  const size = hours * 3600 + minutes * 60 + seconds;
  return zone.startsWith("-") ? -size : size;
}

/** Formats an offset from UTC: `+01:00`, with seconds where it has some, as before standard time. */
export function formatOffset(seconds: number): string {
  const size = Math.abs(seconds);
  const parts = [Math.floor(size / 3600), Math.floor(size / 60) % 60];
  if (size % 60 !== 0) parts.push(size % 60);
  return (seconds < 0 ? "-" : "+") + parts.map(twoDigits).join(":");
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}
