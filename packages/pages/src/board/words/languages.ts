import { de } from "./de.ts";
import { en, type Words } from "./en.ts";

/** A language is a file beside, and a line here. What one lacks is shown in English. */
export const languages: Readonly<Record<string, { readonly name: string; readonly words: Partial<Words> }>> = {
  en: { name: "English", words: en },
  de: { name: "Deutsch", words: de },
};
