import { pixelsPerMm, pixelsPerPoint } from "./page-units.ts";

interface Box {
  /** In millimetres. */
  readonly width: number;
  readonly height: number;
  /** In points. */
  readonly fontSize: number;
}

interface LineHeights {
  /** The distance between baselines, and the addition after each hard break; in em. */
  readonly advance: number;
  readonly afterHardBreak: number;
}

/** The letters of Open Sans in all styles. Upper bounds with kerning: narrow letters 0.68 em, all letters 1.14 em. */
const letters =
  /[ -~\u00a0-\u017f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac]/;
const narrow =
  /[a-ln-vx-z0-9 .,:;'!()/à-åç-öø-ÿα-ξορ-υχά-ίϊ-ύабвгезклопрсухчьэя-]|(?![ďœŵŉ])[ā-ž](?<=\p{Lowercase_Letter})/u;
const [mostOfNarrow, mostOfAll] = [0.68, 1.14];

/** An upper bound of the width in em, by UTF-16 code unit; NaN: unknown. */
const widths = Float64Array.from({ length: 0x2100 }, (_, code) => {
  const letter = String.fromCharCode(code);
  if (!letters.test(letter)) return Number.NaN;
  return narrow.test(letter) ? mostOfNarrow : mostOfAll;
});

/** An upper bound of the width of a line, in em; NaN: the line has unknown letters. */
export function mostWidthOf(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) sum += widths[text.charCodeAt(index)] ?? Number.NaN;
  return sum;
}

/** An upper bound of the number of lines; infinite if unknown. The browser never needs more. */
function mostLinesOf(line: string, width: number): number {
  let [lines, filled] = [1, 0];
  for (const word of line.split(" ")) {
    const length = mostWidthOf(word);
    if (!(length <= width)) return Number.POSITIVE_INFINITY;
    const added = filled === 0 ? length : filled + mostOfNarrow + length;
    if (added > width) lines += 1;
    filled = added > width ? length : added;
  }
  return lines;
}

/** Whether a text fits by upper bounds. Other texts are measured, which costs a second layout in the browser. */
export function surelyFits(
  lines: readonly string[],
  { width, height, fontSize }: Box,
  { advance, afterHardBreak }: LineHeights,
): boolean {
  const size = fontSize * pixelsPerPoint;
  const room = (height * pixelsPerMm) / size - (lines.length - 1) * afterHardBreak;
  const most = lines.reduce((sum, line) => sum + mostLinesOf(line, (width * pixelsPerMm) / size), 0);
  return most * advance <= room;
}
