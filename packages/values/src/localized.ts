/** A text in several languages, by locale: `{ "en": "Ticket", "de-informal": "Ticket" }`. */
export type Localized = Readonly<Record<string, string>>;

/**
 * Picks the text for a reader: of the locale, of its language, of another variety of it, of the fallbacks (the same way),
 * English, else the first text. A text without a visible letter counts as missing.
 */
export function pick(localized: Localized, locale: string, fallbacks: readonly string[] = []): string {
  for (const wanted of [locale, ...fallbacks, "en"]) {
    const text = textIn(localized, wanted) ?? textIn(localized, languageOf(wanted)) ?? varietyIn(localized, wanted);
    if (text !== undefined) return text;
  }
  return Object.values(localized).find(isVisible) ?? "";
}

function textIn(localized: Localized, locale: string): string | undefined {
  const text = Object.hasOwn(localized, locale) ? localized[locale] : undefined;
  return text !== undefined && isVisible(text) ? text : undefined;
}

/** Whether a text has more than blanks, controls and other characters that print nothing. */
export function isVisible(text: string): boolean {
  return /[^\p{White_Space}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(text);
}

function varietyIn(localized: Localized, locale: string): string | undefined {
  const language = languageOf(locale).toLowerCase();
  return Object.entries(localized).find(
    ([name, text]) => isVisible(text) && languageOf(name).toLowerCase() === language,
  )?.[1];
}

function languageOf(locale: string): string {
  return locale.replace(/[-_].*$/s, "");
}
