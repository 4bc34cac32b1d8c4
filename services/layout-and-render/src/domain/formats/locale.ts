/** A language and a region. */
export interface Locale {
  /** As it was sent: localized texts have such keys. */
  readonly name: string;
  /** In lower case. */
  readonly language: string;
  /** A BCP 47 tag of language, script and region. */
  readonly tag: string;
}

const fallback = "en";

/** Reads the name of a locale (`de`, `pt-br`, `de-informal`, `zh_Hans`). The default region is that of the event. */
export function readLocale(name: string, region: string | null): Locale {
  const [first = "", ...rest] = name.split(/[-_]/, 10);
  const language = isLanguage(first) ? first.toLowerCase() : fallback;
  const script = rest.find((part) => /^[A-Za-z]{4}$/.test(part));
  const isRegion = (part: string | null) => part !== null && /^(?:[A-Za-z]{2}|[0-9]{3})$/.test(part);
  const own = rest.find(isRegion) ?? (isRegion(region) ? region : null);
  const tag = [language, script, own].filter((part) => typeof part === "string").join("-");
  return { name, language, tag: Intl.getCanonicalLocales(tag)[0] ?? fallback };
}

/** Whether Intl has data of a language. */
function isLanguage(name: string): boolean {
  return /^[A-Za-z]{2,3}$/.test(name) && Intl.DateTimeFormat.supportedLocalesOf(name).length > 0;
}

/** The locales for Intl: digits and calendar do not follow the region. */
export function formatterLocales({ tag }: Locale): string[] {
  // Without data, Intl must not fall back to the language of this machine.
  return [`${tag}-u-ca-gregory-nu-latn`, fallback];
}
