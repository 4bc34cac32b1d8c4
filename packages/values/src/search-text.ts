/**
 * Folds a text for a search. Equal become: capitals and small letters, composed and decomposed letters, ligatures and
 * full-width forms, ß and ss, both small sigmas, dotted and dotless i. Accents stay.
 *
 * Control characters are removed (a database refuses NUL), and so are invisible format characters, which people copy with
 * codes. Tabs and line breaks become spaces, so that words stay separate.
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

/** Writes a text as a pattern for LIKE that means its letters alone. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
