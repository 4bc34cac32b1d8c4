import { signal } from "@preact/signals";
import { type Localized, pick } from "@tessera/values";
import { chooseLanguage, fillIn } from "../ui/words/choose-language.ts";
import { en, type Word } from "./words/en.ts";
import { languages } from "./words/languages.ts";

const kept = "tessera-board-language";

/** The language of the page. */
export const language = signal("en");

/** Takes the language that was chosen before, else that of the browser. */
export function startLanguage(): void {
  const chosen = localStorage.getItem(kept);
  show(chooseLanguage(languages, [...(chosen === null ? [] : [chosen]), ...navigator.languages]));
}

export function useLanguage(name: string): void {
  localStorage.setItem(kept, name);
  show(name);
}

function show(name: string): void {
  language.value = name;
  document.documentElement.lang = name;
  document.title = `Tessera – ${say("page")}`;
}

/** Says a word of the page. */
export function say(word: Word, values: Readonly<Record<string, string | number>> = {}): string {
  return fillIn(languages[language.value]?.words[word] ?? en[word], values);
}

/** Says why a scan was refused; a reason that this page does not know as it is. */
export function sayReason(reason: string): string {
  const word = `reason_${reason}`;
  return Object.hasOwn(en, word) ? say(word as Word) : reason;
}

/** Says a text of the organizer. */
export function sayLocalized(text: Localized | string): string {
  return typeof text === "string" ? text : pick(text, language.value);
}

export function sayNumber(value: number): string {
  return new Intl.NumberFormat(language.value).format(value);
}

/** A share between 0 and 1 in whole percents. */
export function sayShare(share: number): string {
  return new Intl.NumberFormat(language.value, { style: "percent", maximumFractionDigits: 0 }).format(share);
}

/** A time of day on the clock of this device, with seconds. */
export function sayTime(ms: number): string {
  return new Intl.DateTimeFormat(language.value, { timeStyle: "medium" }).format(ms);
}

/** A span of time, in the unit that fits it. Narrow ones are for tables, and short ones for sentences. */
export function saySpan(ms: number, unitDisplay: "narrow" | "short" = "narrow"): string {
  const seconds = Math.max(0, Math.round(ms / 1000));
  const [unit, amount] =
    seconds < 90
      ? ["second", seconds]
      : seconds < 5400
        ? ["minute", Math.round(seconds / 60)]
        : ["hour", seconds / 3600];
  const form = { style: "unit", unit, unitDisplay, maximumFractionDigits: 1 } as const;
  return new Intl.NumberFormat(language.value, form).format(amount);
}
