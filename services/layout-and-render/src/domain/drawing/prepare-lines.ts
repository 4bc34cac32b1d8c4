/** Everything that Unicode has for the end of a line (UAX 14). */
export const lineBreak = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/g;

/** Splits a text at hard breaks, in Unicode NFC, without control characters. */
export function prepareLines(value: string): readonly string[] {
  return (
    value
      .toWellFormed()
      .normalize("NFC")
      .split(lineBreak)
      // Tabs stay: the browser prints them as spaces.
      .map((line) => line.replaceAll(/[^\P{Cc}\t]/gu, ""))
  );
}
