import { de } from "./de.ts";
import { en, type Texts } from "./en.ts";

/** By language, or language and region: `pt`, `pt-br`. */
export const languages: Readonly<Record<string, Texts>> = { en, de };
