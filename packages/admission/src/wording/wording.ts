import type { Instant } from "@tessera/values";
import { formatLocalMinute, toLocalMinute } from "../local-minute.ts";
import type { Zone } from "../local-time.ts";
import { en, type TextName } from "./texts/en.ts";
import { languages } from "./texts/languages.ts";

/** Scanners expect English times in this form, whatever the region. */
const english = "en";

const hourAndMinute = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: "UTC" } as const;
const wholeDate = { year: "numeric", month: "2-digit", day: "2-digit" } as const;

const someMonday = Date.UTC(2024, 0, 1);
const dayMs = 86_400_000;

/** Writes explanations in one language. Intl formatters are slow to create, so each is created at its first use. */
export class Wording {
  readonly language: string;
  #moments: Intl.DateTimeFormat | undefined;
  #clock: Intl.DateTimeFormat | undefined;
  #weekdays: Intl.DateTimeFormat | undefined;
  #numbers: Intl.NumberFormat | undefined;
  #choices: Intl.ListFormat | undefined;

  constructor(language: string) {
    this.language = language;
  }

  /** Fills in a text. */
  say(name: TextName, values: Readonly<Record<string, string>> = {}): string {
    const text = languages[this.language]?.[name] ?? en[name];
    return text.replaceAll(/\{(\w+)\}/g, (_braces, value: string) => values[value] ?? "");
  }

  /** Formats an instant with its date, on the wall clock of the zone. */
  moment(at: Instant, zone: Zone | null): string {
    if (this.language === english) return formatLocalMinute(at, zone);
    this.#moments ??= new Intl.DateTimeFormat(this.language, { ...wholeDate, ...hourAndMinute });
    return this.#moments.format(toLocalMinute(at, zone) / 1000);
  }

  /** Formats only the time of an instant. */
  clock(at: Instant, zone: Zone | null): string {
    if (this.language === english) return formatLocalMinute(at, zone).slice(-"00:00".length);
    this.#clock ??= new Intl.DateTimeFormat(this.language, hourAndMinute);
    return this.#clock.format(toLocalMinute(at, zone) / 1000);
  }

  /** Names a day of the week, 1 for Monday to 7 for Sunday. */
  weekday(day: number): string {
    this.#weekdays ??= new Intl.DateTimeFormat(this.language, { weekday: "long", timeZone: "UTC" });
    return this.#weekdays.format(someMonday + (day - 1) * dayMs);
  }

  number(value: number): string {
    this.#numbers ??= new Intl.NumberFormat(this.language, {
      useGrouping: false,
      maximumFractionDigits: 20,
      signDisplay: "negative",
    });
    return this.#numbers.format(value);
  }

  /** Joins alternatives: `Monday or Friday`. */
  anyOf(alternatives: readonly string[]): string {
    this.#choices ??= new Intl.ListFormat(this.language, { type: "disjunction" });
    return this.#choices.format(alternatives);
  }
}

/** Finds the wording of a locale: of its region, else of its language (without variants), else English. */
export function findWording(locale: string): Wording {
  const tag = locale.toLowerCase().replaceAll("_", "-");
  const language = [tag, tag.replace(/-.*$/s, "")].find((each) => Object.hasOwn(languages, each));
  return new Wording(language ?? english);
}
