import { openSpeech } from "../ui/words/open-speech.ts";
import { now } from "./server/clock.ts";
import { en } from "./words/en.ts";
import { languages } from "./words/languages.ts";

export const speech = openSpeech({
  keptAs: "tessera-scanner-language",
  english: en,
  languages,
});
export const { language, say, isWord, sayReason, startLanguage, sayLocalized } = speech;

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
