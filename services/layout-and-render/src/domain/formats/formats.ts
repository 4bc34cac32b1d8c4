import { type Instant, type Localized, pick } from "@tessera/values";
import { DateFormats } from "./date-formats.ts";
import { type LocalTime, toLocalTime } from "./local-time.ts";
import { formatterLocales, type Locale, readLocale } from "./locale.ts";
import { MoneyFormats } from "./money-formats.ts";
import { findWords, type Words } from "./words.ts";

/** Bounds the cache: orders may name any locale. */
const mostLocales = 200;

/** Bounds the cache: tickets of an event share most of their moments. */
const mostMoments = 10_000;

export class LocalFormats {
  readonly locale: Locale;
  readonly words: Words;
  readonly dates: DateFormats;
  readonly #money: MoneyFormats;
  #regions: Intl.DisplayNames | undefined;

  constructor(locale: Locale) {
    this.locale = locale;
    this.words = findWords(locale);
    this.dates = new DateFormats(locale);
    this.#money = new MoneyFormats(locale);
  }

  /** The text in the best matching language. */
  text(localized: Localized | null): string {
    return localized === null ? "" : pick(localized, this.locale.name);
  }

  money(amount: string, currency: string): string {
    return this.#money.money(amount, currency);
  }

  /** The name of a country; an unknown code stays as it is. */
  country(code: string): string {
    if (!/^[A-Za-z]{2}$/.test(code)) return code;
    this.#regions ??= new Intl.DisplayNames(formatterLocales(this.locale), { type: "region" });
    return this.#regions.of(code.toUpperCase()) ?? code;
  }
}

/** Caches formats and local times: to create a formatter takes a hundred times longer than to use it. */
export class Formats {
  readonly #locales = new Map<string, LocalFormats>();
  readonly #moments = new Map<string, LocalTime>();

  /** The formats of a locale, in the region of the event unless the locale has a region. */
  of(name: string, region: string | null): LocalFormats {
    const key = `${region} ${name}`;
    let formats = this.#locales.get(key);
    if (formats === undefined) {
      formats = new LocalFormats(readLocale(name, region));
      if (this.#locales.size >= mostLocales) this.#locales.clear();
      this.#locales.set(key, formats);
    }
    return formats;
  }

  /** The local time of an instant in a time zone. Throws for an unknown zone. */
  localTime(instant: Instant, zone: string): LocalTime {
    const key = `${instant} ${zone}`;
    let moment = this.#moments.get(key);
    if (moment === undefined) {
      moment = toLocalTime(instant, zone);
      if (this.#moments.size >= mostMoments) this.#moments.clear();
      this.#moments.set(key, moment);
    }
    return moment;
  }
}
