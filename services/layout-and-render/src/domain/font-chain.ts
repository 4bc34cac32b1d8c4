/** The families of letters, in the order in which they are tried for a text. */
export type FontFamily =
  | "Open Sans"
  | "Noto Sans"
  | "Noto Sans Arabic"
  | "Noto Sans Thai"
  | EastAsian
  | "Noto Color Emoji";
type EastAsian = "Noto Sans SC" | "Noto Sans JP" | "Noto Sans KR";

const western = ["Open Sans", "Noto Sans", "Noto Sans Arabic", "Noto Sans Thai"] as const;

/** The same characters have other shapes in China, Japan and Korea: what is written decides, then the language. */
function eastAsian(text: string, language: string): readonly EastAsian[] {
  if (/[\p{Script=Hiragana}\p{Script=Katakana}]/u.test(text)) return ["Noto Sans JP", "Noto Sans SC", "Noto Sans KR"];
  if (/\p{Script=Hangul}/u.test(text)) return ["Noto Sans KR", "Noto Sans SC", "Noto Sans JP"];
  if (/^ja\b/i.test(language)) return ["Noto Sans JP", "Noto Sans SC", "Noto Sans KR"];
  if (/^ko\b/i.test(language)) return ["Noto Sans KR", "Noto Sans SC", "Noto Sans JP"];
  return ["Noto Sans SC", "Noto Sans JP", "Noto Sans KR"];
}

/** The families for a text. Emoji come last: their font has digits, too. */
export function fontChain(text: string, language: string): readonly FontFamily[] {
  // Everything before Hangul is in the first ones.
  if (!/[\u1100-\uffff]/.test(text)) return [...western, "Noto Color Emoji"];
  return [...western, ...eastAsian(text, language), "Noto Color Emoji"];
}
