/**
 * Folds a text for a search. Equal become: capitals and small letters, composed and decomposed letters, ligatures and
 * full-width forms, ß and ss, both small sigmas, dotted and dotless i, and what `foldTypography` makes equal. Accents stay.
 *
 * Control characters are removed (a database refuses NUL), and so are invisible format characters, which people copy with
 * codes. Tabs and line breaks become spaces, so that words stay separate.
 */
export function foldForSearch(text: string): string {
  const folded = text
    .replace(/[\t-\r\u0085]/g, " ")
    .replace(/[\p{Cc}\p{Cf}]/gu, "")
    .normalize("NFC");
  // Before NFKC, which takes some of these characters apart, and after it, which makes others.
  return foldTypography(
    foldTypography(folded)
      .normalize("NFKC")
      .toLowerCase()
      .replace(/ß|ς|[ıi]\u0307*/g, (letter) => (letter === "ß" ? "ss" : letter === "ς" ? "σ" : "i"))
      .normalize("NFKC"),
  );
}

/** Each way to write an apostrophe, a quotation mark, a dash or a space, after the one that keyboards have. */
const ways = [
  "'`´ʹʺʻʼʽʾʿˈ‘’‚‛′‵‹›ꞌ׳＇｀",
  '"“”„‟″‶«»〝〞〟״＂',
  "-‐‑‒–—―⁃−⸺⸻﹘﹣－֊־᠆︱︲",
  " \u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000",
];

/** The variants, and in their order what each of them is read as: arguments for `translate` of SQL. */
export const typography = {
  variants: ways.map((way) => way.slice(1)).join(""),
  usual: ways.map((way) => way.slice(0, 1).repeat(way.length - 1)).join(""),
};

const anyVariant = new RegExp(`[${typography.variants}]`, "g");

/** Writes apostrophes, quotation marks, dashes and spaces as keyboards do. */
export function foldTypography(text: string): string {
  return text.replace(anyVariant, (variant) => typography.usual[typography.variants.indexOf(variant)] ?? variant);
}

/** Writes a text as a pattern for LIKE that means its letters alone. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, "\\$&");
}
