import { openSpeech } from "../ui/words/open-speech.ts";
import { en } from "./words/en.ts";
import { languages } from "./words/languages.ts";

export const speech = openSpeech({
  keptAs: "tessera-board-language",
  english: en,
  languages,
});
export const { language, say, startLanguage, sayLocalized, sayReason } = speech;

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
