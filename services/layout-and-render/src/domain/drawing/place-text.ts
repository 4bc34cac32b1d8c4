import type { TextArea, TextContainer } from "../elements/element.ts";

/** Of the letters of Open Sans, per em: how the established drawing rules count them. */
const descent = 0.2402;
const lineOfLetters = 1.0054;
/** Without a line height, a line that its author ended is this much higher than one that was full. */
const afterHardBreak = 1.0735 - lineOfLetters;

/** Of Open Sans in the browser, per em: the letters above and below their line. */
const browserAscent = 2189 / 2048;
const browserDescent = 600 / 2048;

/** How lines are put into a box; everything is in em but `bottom`. */
export interface TextPlace {
  /** From line to line. */
  readonly advance: number;
  /** Added after each line that its author ended. */
  readonly afterHardBreak: number;
  /** How much lower lines are drawn than the browser would. */
  readonly shift: number;
}

/** The advance of a line with a line height, per em. */
function leading(lineHeight: number): number {
  return 1.15 * lineHeight;
}

/** The baseline of the first line below the upper edge of the lines, in em, as the browser has it. */
function browserBaseline(advance: number): number {
  return (advance - browserAscent - browserDescent) / 2 + browserAscent;
}

/**
 * Where the lines of a text are. With h the height of all lines and T the upper edge of the lines, the first baseline is,
 * below T: in a container `fs`; in an area that grows downwards `fs - 0.4 D`; upwards `fs - D` without a line height, else
 * `fs + (1.15 L - 1) 1.05 fs - D`. fs is the size of the letters, D their descent, L the line height.
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
