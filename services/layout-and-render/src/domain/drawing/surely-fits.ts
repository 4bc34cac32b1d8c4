import { pixelsPerMm, pixelsPerPoint } from "./page-units.ts";

interface Box {
  /** In millimetres. */
  readonly width: number;
  readonly height: number;
  /** In points. */
  readonly fontSize: number;
}

interface LineHeights {
  /** In em: from line to line, and what is added after each line that its author ended. */
  readonly advance: number;
  readonly afterHardBreak: number;
}

/** Letters that Open Sans has in all styles. The narrow ones have at most so many em, with the space between two; so have all. */
const letters =
  /[ -~\u00a0-\u017f\u0386\u0388-\u038a\u038c\u038e-\u03a1\u03a3-\u03ce\u0400-\u045f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac]/;
const narrow =
  /[a-ln-vx-z0-9 .,:;'!()/à-åç-öø-ÿα-ξορ-υχά-ίϊ-ύабвгезклопрсухчьэя-]|(?![ďœŵŉ])[ā-ž](?<=\p{Lowercase_Letter})/u;
const [mostOfNarrow, mostOfAll] = [0.68, 1.14];

/** By the code of a letter: at least its width in em. Of all others nothing is known. */
const widths = Float64Array.from({ length: 0x2100 }, (_, code) => {
  const letter = String.fromCharCode(code);
  if (!letters.test(letter)) return Number.NaN;
  return narrow.test(letter) ? mostOfNarrow : mostOfAll;
});

/** At least the width of a text in one line, in em; NaN: it has letters of which nothing is known. */
export function mostWidthOf(text: string): number {
  let sum = 0;
  for (let index = 0; index < text.length; index += 1) sum += widths[text.charCodeAt(index)] ?? Number.NaN;
  return sum;
}

/** At most so many lines; infinite where that cannot be told. The browser, which knows the letters, never needs more. */
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

/**
 * Whether a text fits its box, whatever its letters are exactly. Only the others are measured: where none is, the browser lays
 * out pages once, and not twice.
 */
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
