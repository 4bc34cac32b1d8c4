/** A text in several languages, by locale: `{ "en": "Ticket", "de-informal": "Ticket" }`. */
export type Localized = Readonly<Record<string, string>>;

/**
 * Picks the text for a reader: of the locale, of its language, of another variety of it, of the fallbacks (the same way),
 * English, else the first text. An empty text counts as missing.
 */
export function pick(localized: Localized, locale: string, fallbacks: readonly string[] = []): string {
  for (const wanted of [locale, ...fallbacks, "en"]) {
    const text = textIn(localized, wanted) || textIn(localized, languageOf(wanted)) || varietyIn(localized, wanted);
    if (text) return text;
  }
  return Object.values(localized).find((text) => text !== "") ?? "";
}

function textIn(localized: Localized, locale: string): string | undefined {
  return Object.hasOwn(localized, locale) ? localized[locale] : undefined;
}

function varietyIn(localized: Localized, locale: string): string | undefined {
  const language = languageOf(locale).toLowerCase();
  return Object.entries(localized).find(
    ([name, text]) => text !== "" && languageOf(name).toLowerCase() === language,
  )?.[1];
}

function languageOf(locale: string): string {
  return locale.replace(/[-_].*$/s, "");
}
