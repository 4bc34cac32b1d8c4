/** The first wanted language that there is, else English. */
export function chooseLanguage(known: Readonly<Record<string, unknown>>, wanted: readonly string[]): string {
  for (const each of wanted) {
    const language = each.toLowerCase().replace(/[-_].*$/s, "");
    if (Object.hasOwn(known, language)) return language;
  }
  return "en";
}

/** Puts values in the place of the names in braces. */
export function fillIn(text: string, values: Readonly<Record<string, string | number>>): string {
  return text.replaceAll(/\{(\w+)\}/g, (name, key: string) => String(values[key] ?? name));
}
