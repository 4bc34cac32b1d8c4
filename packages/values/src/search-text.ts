/**
 * Folds a text so that what people take for the same compares equal: capitals, composed and decomposed letters, ligatures
 * and full-width forms, ß and ss, both small sigmas, dotted and dotless i. Accents stay.
 *
 * Control characters go (a database refuses NUL), and so do invisible format characters that come along when codes
 * are copied; tabs and line breaks become blanks, so that words stay apart.
 */
export function foldForSearch(text: string): string {
  return text
    .replace(/[\t-\r\u0085]/g, " ")
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .normalize("NFKC")
    .toLowerCase()
    .replace(/ß|ς|[ıi]\u0307*/g, (letter) => (letter === "ß" ? "ss" : letter === "ς" ? "σ" : "i"))
    .normalize("NFKC");
}
