/** In which language and for which region something is written. */
export interface Locale {
  /** As it was named: texts are stored by such names. */
  readonly name: string;
  /** In small letters. */
  readonly language: string;
  /** A BCP 47 tag of language, script and region. */
  readonly tag: string;
}

const fallback = "en";

/** Reads the name of a locale (`de`, `pt-br`, `de-informal`, `zh_Hans`). One without a region gets that of the event. */
export function readLocale(name: string, region: string | null): Locale {
  const [first = "", ...rest] = name.split(/[-_]/, 10);
  const language = isLanguage(first) ? first.toLowerCase() : fallback;
  const script = rest.find((part) => /^[A-Za-z]{4}$/.test(part));
  const isRegion = (part: string | null) => part !== null && /^(?:[A-Za-z]{2}|[0-9]{3})$/.test(part);
  const own = rest.find(isRegion) ?? (isRegion(region) ? region : null);
  const tag = [language, script, own].filter((part) => typeof part === "string").join("-");
  return { name, language, tag: Intl.getCanonicalLocales(tag)[0] ?? fallback };
}

/** Whether the platform has data of a language. */
function isLanguage(name: string): boolean {
  return /^[A-Za-z]{2,3}$/.test(name) && Intl.DateTimeFormat.supportedLocalesOf(name).length > 0;
}

/** What formatters of the platform are made for: digits and the calendar do not follow the region. */
export function formatterLocales({ tag }: Locale): string[] {
  // A language without data must not become that of the machine.
  return [`${tag}-u-ca-gregory-nu-latn`, fallback];
}
