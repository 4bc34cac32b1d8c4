/** The families of letters. */
export type FontFamily = "Open Sans" | "Noto Sans" | OfScript | EastAsian | "Noto Color Emoji";
type OfScript = (typeof ofScripts)[number][0];
type EastAsian = "Noto Sans SC" | "Noto Sans JP" | "Noto Sans KR";

/** Families for scripts that the first two lack. */
const ofScripts = [
  ["Noto Sans Arabic", /\p{scx=Arab}/u],
  ["Noto Sans Armenian", /\p{scx=Armn}/u],
  ["Noto Sans Bengali", /\p{scx=Beng}/u],
  ["Noto Sans Canadian Aboriginal", /\p{scx=Cans}/u],
  ["Noto Sans Cherokee", /\p{scx=Cher}/u],
  ["Noto Sans Ethiopic", /\p{scx=Ethi}/u],
  ["Noto Sans Georgian", /\p{scx=Geor}/u],
  ["Noto Sans Gujarati", /\p{scx=Gujr}/u],
  ["Noto Sans Gurmukhi", /\p{scx=Guru}/u],
  ["Noto Sans Kannada", /\p{scx=Knda}/u],
  ["Noto Sans Khmer", /\p{scx=Khmr}/u],
  ["Noto Sans Lao", /\p{scx=Laoo}/u],
  ["Noto Sans Malayalam", /\p{scx=Mlym}/u],
  ["Noto Sans Meetei Mayek", /\p{scx=Mtei}/u],
  ["Noto Sans Myanmar", /\p{scx=Mymr}/u],
  ["Noto Sans NKo", /\p{scx=Nkoo}/u],
  ["Noto Sans Ol Chiki", /\p{scx=Olck}/u],
  ["Noto Sans Oriya", /\p{scx=Orya}/u],
  ["Noto Sans Sinhala", /\p{scx=Sinh}/u],
  ["Noto Sans Syriac", /\p{scx=Syrc}/u],
  ["Noto Sans Tamil", /\p{scx=Taml}/u],
  ["Noto Sans Telugu", /\p{scx=Telu}/u],
  ["Noto Sans Thaana", /\p{scx=Thaa}/u],
  // The sign of the baht belongs to no script.
  ["Noto Sans Thai", /[\p{scx=Thai}฿]/u],
  ["Noto Sans Tifinagh", /\p{scx=Tfng}/u],
  ["Noto Serif Tibetan", /\p{scx=Tibt}/u],
] as const;

/** Han characters differ between China, Japan and Korea: other letters of the text decide, then the language. */
function eastAsian(text: string, language: string): readonly EastAsian[] {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return ["Noto Sans JP", "Noto Sans SC", "Noto Sans KR"];
  if (/\p{Script=Hangul}/u.test(text)) return ["Noto Sans KR", "Noto Sans SC", "Noto Sans JP"];
  if (/^ja\b/i.test(language)) return ["Noto Sans JP", "Noto Sans SC", "Noto Sans KR"];
  if (/^ko\b/i.test(language)) return ["Noto Sans KR", "Noto Sans SC", "Noto Sans JP"];
  return ["Noto Sans SC", "Noto Sans JP", "Noto Sans KR"];
}

/** Letters of the first two families that no other script uses. */
const usual =
  /^[\t\n -~\u00a0-\u00b6\u00b8-\u02bb\u0386-\u0482\u048a-\u052f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac]*$/;
const usualChain = ["Open Sans", "Noto Sans", "Noto Color Emoji"] as const;

/** The font fallback order of a text. Emoji come last: their font has digits, too. */
export function fontChain(text: string, language: string): readonly FontFamily[] {
  if (usual.test(text)) return usualChain;
  const scripts = ofScripts.flatMap(([family, script]) => (script.test(text) ? [family] : []));
  // Characters before Hangul are in the other families.
  const asian = /[\u1100-\uffff]/.test(text) ? eastAsian(text, language) : [];
  return ["Open Sans", "Noto Sans", ...scripts, ...asian, "Noto Color Emoji"];
}
