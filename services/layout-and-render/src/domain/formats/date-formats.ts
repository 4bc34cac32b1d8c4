import { agencyMonths, type Clock, type DateStyle, findDateStyle } from "./date-styles.ts";
import type { LocalTime } from "./local-time.ts";
import { formatterLocales, type Locale } from "./locale.ts";

/** Formats dates and times in one locale. Formatters are created at first use, and cached. */
export class DateFormats {
  readonly #locales: string[];
  readonly #style: DateStyle | undefined;
  readonly #formatters = new Map<string, Intl.DateTimeFormat>();

  constructor(locale: Locale) {
    this.#locales = formatterLocales(locale);
    this.#style = findDateStyle(locale);
  }

  /** `27. Dezember 2025`. */
  date(at: LocalTime): string {
    return this.#style === undefined ? this.#format({ dateStyle: "long" }, at) : this.#fill(this.#style.date, at);
  }

  /** `27.12.2025`. */
  shortDate(at: LocalTime): string {
    return this.#style === undefined
      ? this.#format({ year: "numeric", month: "2-digit", day: "2-digit" }, at)
      : this.#fill(this.#style.shortDate, at);
  }

  /** `20:05`. */
  time(at: LocalTime): string {
    return this.#style === undefined ? this.#format({ timeStyle: "short" }, at) : writeClock(this.#style.time, at);
  }

  /** `27.12.2025 20:05`. */
  shortDateTime(at: LocalTime): string {
    return `${this.shortDate(at)} ${this.time(at)}`;
  }

  /** `Samstag`. */
  weekday(at: LocalTime): string {
    return this.#format({ weekday: "long" }, at);
  }

  /** `27.–30. Dezember 2025`. */
  dateRange(from: LocalTime, to: LocalTime): string {
    const range = this.#style?.range;
    const isSameYear = from.year === to.year;
    const isSameMonth = isSameYear && from.month === to.month;
    if (isSameMonth && from.day === to.day)
      return range === undefined ? this.date(from) : this.#fill(range.sameDay, from);
    if (range !== undefined && isSameYear) {
      const [first, between, last] = isSameMonth ? range.sameMonth : range.sameYear;
      return `${this.#fill(first, from)}${between}${this.#fill(last, to)}`;
    }
    return `${this.date(from)} – ${this.date(to)}`;
  }

  #fill(pattern: string, at: LocalTime): string {
    return pattern.replaceAll(/\{(\w+)\}/g, (_, part: string) => this.#write(part, at));
  }

  #write(part: string, at: LocalTime): string {
    switch (part) {
      case "d":
        return String(at.day);
      case "dd":
        return twoDigits(at.day);
      case "m":
        return String(at.month);
      case "mm":
        return twoDigits(at.month);
      case "month":
        return this.#format({ month: "long" }, at);
      case "mon":
        return this.#format({ month: "short" }, at).slice(0, 3);
      case "ap":
        return agencyMonths[at.month - 1] ?? "";
      case "wd":
        return this.#format({ weekday: "short" }, at);
      default:
        return String(Math.max(at.year, 0)).padStart(4, "0");
    }
  }

  #format(options: Intl.DateTimeFormatOptions, at: LocalTime): string {
    const key = Object.keys(options).join() + Object.values(options).join();
    let formatter = this.#formatters.get(key);
    if (formatter === undefined) {
      formatter = new Intl.DateTimeFormat(this.#locales, { ...options, timeZone: "UTC" });
      this.#formatters.set(key, formatter);
    }
    return formatter.format(at.sameInUtc);
  }
}

function writeClock(clock: Clock, { hour, minute }: LocalTime): string {
  if (clock === "24") return `${twoDigits(hour)}:${twoDigits(minute)}`;
  if (clock === "h") return `${twoDigits(hour)}\u00a0h\u00a0${twoDigits(minute)}`;
  if (minute === 0 && hour === 0) return "midnight";
  if (minute === 0 && hour === 12) return "noon";
  return `${hour % 12 || 12}${minute === 0 ? "" : `:${twoDigits(minute)}`} ${hour < 12 ? "a.m." : "p.m."}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, "0");
}
