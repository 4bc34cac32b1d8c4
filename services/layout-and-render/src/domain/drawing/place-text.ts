import type { TextArea, TextContainer } from "../elements/element.ts";

/** The descent of Open Sans, per em, as the established drawing rules count it. */
const descent = 0.2402;
const lineOfLetters = 1.0054;
/** Without a line height, a line after a hard break is this much lower than after a soft break. */
const afterHardBreak = 1.0735 - lineOfLetters;

/** Ascent and descent of Open Sans in the browser, per em. */
const browserAscent = 2189 / 2048;
const browserDescent = 600 / 2048;

/** How lines are placed in a box; all in em, except `bottom`. */
export interface TextPlace {
  /** The distance between baselines. */
  readonly advance: number;
  /** Added after each hard break. */
  readonly afterHardBreak: number;
  /** How much lower lines are drawn than the browser would. */
  readonly shift: number;
}

/** The advance of a text with a line height, per em. */
function leading(lineHeight: number): number {
  return 1.15 * lineHeight;
}

/** The first baseline below the upper edge of the lines, in em, in the browser. */
function browserBaseline(advance: number): number {
  return (advance - browserAscent - browserDescent) / 2 + browserAscent;
}

/**
 * Places the lines of a text. With h the height of all lines and T the upper edge of the lines, the first baseline is,
 * below T: in a container `fs`; in an area that grows downwards `fs - 0.4 D`; upwards `fs - D` without a line height,
 * else `fs + (1.15 L - 1) 1.05 fs - D`. fs is the font size, D the descent, L the line height.
 */
export function placeText(element: TextArea | TextContainer): TextPlace {
  const { lineHeight } = element;
  const advance = lineHeight === undefined ? lineOfLetters : leading(lineHeight);
  const gap = lineHeight === undefined ? afterHardBreak : 0;
  return { advance, afterHardBreak: gap, shift: firstBaseline(element) - browserBaseline(advance) };
}

function firstBaseline(element: TextArea | TextContainer): number {
  if (element.type === "textcontainer") return 1;
  if (element.downward) return 1 - 0.4 * descent;
  if (element.lineHeight === undefined) return 1 - descent;
  return 1 + (leading(element.lineHeight) - 1) * 1.05 - descent;
}
