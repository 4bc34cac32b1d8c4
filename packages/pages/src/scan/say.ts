import { signal } from "@preact/signals";
import { type Localized, pick } from "@tessera/values";
import { chooseLanguage, fillIn } from "../ui/words/choose-language.ts";
import { now } from "./server/clock.ts";
import { en, type Word } from "./words/en.ts";
import { languages } from "./words/languages.ts";

/** The language of the page. */
export const language = signal("en");

/** Takes the language that was chosen before, else that of the browser. */
export function startLanguage(chosen: string | null): void {
  useLanguage(chooseLanguage(languages, [...(chosen === null ? [] : [chosen]), ...navigator.languages]));
}

function useLanguage(name: string): void {
  language.value = name;
  document.documentElement.lang = name;
  document.title = `Tessera – ${say("page")}`;
}

/** Uses a language now and the next time. */
export function keepLanguage(name: string): void {
  localStorage.setItem("tessera-scanner-language", name);
  useLanguage(name);
}

/** Says a word of the page. */
export function say(word: Word, values: Readonly<Record<string, string | number>> = {}): string {
  return fillIn(languages[language.value]?.words[word] ?? en[word], values);
}

/** Says a text of the organizer. */
export function sayLocalized(text: Localized | string): string {
  return typeof text === "string" ? text : pick(text, language.value);
}

/** An instant as a gate needs it: the time, the day unless it is today's, and the year unless it is this one; on the clock of this device, or of a zone. */
export function sayTime(instant: string | number, timeZone?: string): string {
  const [at, today] = [new Date(instant), new Date(now())];
  const year = at.getFullYear() === today.getFullYear() ? {} : ({ year: "numeric" } as const);
  const isToday = at.toDateString() === today.toDateString();
  const day = isToday ? {} : ({ day: "numeric", month: "short", ...year } as const);
  const zone = timeZone === undefined ? {} : { timeZone };
  return new Intl.DateTimeFormat(language.value, { hour: "2-digit", minute: "2-digit", ...day, ...zone }).format(at);
}

/** A span of time, as long as a person wants to know it. */
export function saySpan(ms: number): string {
  const minutes = ms / 60_000;
  const [unit, amount] =
    minutes < 90
      ? ["minute", Math.round(minutes)]
      : minutes < 36 * 60
        ? ["hour", minutes / 60]
        : ["day", minutes / 1440];
  const form = { style: "unit", unit, unitDisplay: "long", maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language.value, form).format(amount);
}
