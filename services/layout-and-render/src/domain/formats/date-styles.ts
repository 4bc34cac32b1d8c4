import type { Locale } from "./locale.ts";

/**
 * Date patterns for languages in which CLDR has less than buyers of tickets expect. Patterns use `{d}` and `{dd}` for
 * the day, `{m}` and `{mm}` for the month, `{month}` for its name, `{mon}` and `{ap}` for its short name and for that
 * of news agencies, `{yyyy}` for the year, `{wd}` for the short name of the weekday.
 */
export interface DateStyle {
  readonly date: string;
  readonly shortDate: string;
  readonly time: Clock;
  readonly range?: RangeStyle;
}

/** `20:05`; or `8:05 p.m.`, `8 p.m.`, noon and midnight; or `20 h 05`. */
export type Clock = "24" | "12" | "h";

/** Patterns of a range of days; undefined: both days in full. */
export interface RangeStyle {
  readonly sameDay: string;
  /** Each: the first day, the separator, and the last day. */
  readonly sameMonth: readonly [string, string, string];
  readonly sameYear: readonly [string, string, string];
}

const english: RangeStyle = {
  sameDay: "{wd}, {ap} {d}, {yyyy}",
  sameMonth: ["{ap} {d}", " – ", "{d}, {yyyy}"],
  sameYear: ["{ap} {d}", " – ", "{ap} {d}, {yyyy}"],
};

const dayFirst: RangeStyle = {
  sameDay: "{wd}, {d} {mon} {yyyy}",
  sameMonth: ["{d}", " – ", "{d} {mon} {yyyy}"],
  sameYear: ["{d} {mon}", " – ", "{d} {mon} {yyyy}"],
};

const german: RangeStyle = {
  sameDay: "{wd}, {d}. {month} {yyyy}",
  sameMonth: ["{d}.", "–", "{d}. {month} {yyyy}"],
  sameYear: ["{d}. {month}", " – ", "{d}. {month} {yyyy}"],
};

const spanish: RangeStyle = {
  sameDay: "{d} de {month} de {yyyy}",
  sameMonth: ["{d}", " - ", "{d} de {month} de {yyyy}"],
  sameYear: ["{d} de {month}", " - ", "{d} de {month} de {yyyy}"],
};

const american = "{ap} {d}, {yyyy}";
const british = "{d} {mon} {yyyy}";

/** By language, or language and region. */
const styles: Readonly<Record<string, DateStyle>> = {
  en: { date: american, shortDate: "{yyyy}-{mm}-{dd}", time: "24", range: english },
  "en-US": { date: american, shortDate: "{mm}/{dd}/{yyyy}", time: "12", range: english },
  "en-GB": { date: british, shortDate: "{dd}/{mm}/{yyyy}", time: "12", range: english },
  "en-AU": { date: british, shortDate: "{dd}/{mm}/{yyyy}", time: "12", range: english },
  "en-NZ": { date: british, shortDate: "{dd}/{mm}/{yyyy}", time: "12", range: dayFirst },
  "en-IE": { date: british, shortDate: "{dd}/{mm}/{yyyy}", time: "24", range: english },
  "en-CA": { date: british, shortDate: "{yyyy}-{mm}-{dd}", time: "12", range: english },
  de: { date: "{d}. {month} {yyyy}", shortDate: "{dd}.{mm}.{yyyy}", time: "24", range: german },
  fr: { date: "{d} {month} {yyyy}", shortDate: "{dd}/{mm}/{yyyy}", time: "24" },
  "fr-BE": { date: "{d} {month} {yyyy}", shortDate: "{dd}.{mm}.{yyyy}", time: "24" },
  "fr-CH": { date: "{d} {month} {yyyy}", shortDate: "{dd}.{mm}.{yyyy}", time: "24" },
  "fr-CA": { date: "{d} {month} {yyyy}", shortDate: "{yyyy}-{mm}-{dd}", time: "h" },
  nl: { date: "{d} {month} {yyyy}", shortDate: "{d}-{m}-{yyyy}", time: "24" },
  es: { date: "{d} de {month} de {yyyy}", shortDate: "{dd}/{mm}/{yyyy}", time: "24", range: spanish },
};

/** Finds the style of a locale; undefined: CLDR decides. */
export function findDateStyle({ language, tag }: Locale): DateStyle | undefined {
  for (const name of [tag, language]) {
    if (Object.hasOwn(styles, name)) return styles[name];
  }
  return undefined;
}

/** The months as English newspapers abbreviate them. */
export const agencyMonths = [
  "Jan.",
  "Feb.",
  "March",
  "April",
  "May",
  "June",
  "July",
  "Aug.",
  "Sept.",
  "Oct.",
  "Nov.",
  "Dec.",
] as const;
