import { de } from "./de.ts";
import { en, type Words } from "./en.ts";

/** A language is a file beside, and a line here. What one lacks is shown in English. */
export const languages: Readonly<Record<string, { readonly name: string; readonly words: Partial<Words> }>> = {
  en: { name: "English", words: en },
  de: { name: "Deutsch", words: de },
};

/** The first wanted language that there is, else English. */
export function chooseLanguage(wanted: readonly string[]): string {
  for (const each of wanted) {
    const language = each.toLowerCase().replace(/[-_].*$/s, "");
    if (Object.hasOwn(languages, language)) return language;
  }
  return "en";
}

/** Puts values in the place of the names in braces. */
export function fillIn(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (name, key: string) => String(values[key] ?? name));
}
