/** The lines of a text that its author ended, in the composed form of Unicode, without what no paper shows. */
export function prepareLines(value: string): readonly string[] {
  return (
    value
      .toWellFormed()
      .normalize("NFC")
      .split(/\r\n|[\n\r\v\f\u0085\u2028\u2029]/)
      // Controls have no shape; tabs are spaces.
      .map((line) => line.replaceAll(/[^\P{Cc}\t]/gu, ""))
  );
}
