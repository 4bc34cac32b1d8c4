import type { TextArea, TextContainer } from "../elements/element.ts";
import { escapeHtml } from "./escape-html.ts";
import { fontChain } from "./font-chain.ts";
import { pixels, pixelsPerMm, pixelsPerPoint } from "./page-units.ts";
import { placeText } from "./place-text.ts";
import { prepareLines } from "./prepare-lines.ts";
import type { StyleSheet } from "./style-sheet.ts";
import { surelyFits } from "./surely-fits.ts";

/** A text on a page, split into lines. */
export type DrawnText = (TextArea | TextContainer) & { readonly value: string; readonly language: string };

const alignments = { top: "flex-start", middle: "center", bottom: "flex-end" } as const;

/**
 * Draws a text. The browser breaks lines and does bidi layout; the first baseline and the pivot of the rotation are
 * computed here. `mark` names the text if it does not fit, which is checked for texts that shrink, or for all; `height`
 * is that of the page in millimetres.
 */
export function drawText(
  text: DrawnText,
  {
    height,
    mark,
    styles,
    checksFit = false,
  }: {
    readonly height: number;
    readonly mark: string;
    readonly styles: StyleSheet;
    readonly checksFit?: boolean | undefined;
  },
): string {
  if (!(text.fontSize > 0)) return "";
  const lines = prepareLines(text.value);
  if (lines.every((line) => line.trim() === "")) return "";
  const size = text.fontSize * pixelsPerPoint;
  const place = placeText(text);
  const lettering = describeLetters(text, lines.join("\n"));
  const body = lines.map((line, index) => drawLine(line, { gap: index === 0 ? 0 : place.afterHardBreak })).join("");
  const font = `font-size:${pixels(size)};line-height:${round(place.advance)}`;
  const left = `left:${pixels(text.left * pixelsPerMm)};width:${pixels(Math.max(0, text.width) * pixelsPerMm)}`;
  if (text.type === "textarea") {
    // Rotates about the upper left corner of the lines; the shift of the baseline rotates, too.
    const turned = turn(text.rotation, `translateY(${round(place.shift)}em)`);
    const upperEdge = (height - text.bottom) * pixelsPerMm;
    const extra = (lines.length - 1) * place.afterHardBreak * size;
    const vertical = text.downward
      ? `top:${pixels(upperEdge + (turned === "" ? place.shift * size : 0))}`
      : `bottom:${pixels(text.bottom * pixelsPerMm - extra - (turned === "" ? place.shift * size : 0))}`;
    return `<div class="x ${styles.classOf(`${left};${vertical};${font};${lettering}${turned}`)}">${body}</div>`;
  }
  const top = `top:${pixels((height - text.bottom - text.height) * pixelsPerMm)};height:${pixels(Math.max(0, text.height) * pixelsPerMm)}`;
  const box = `${left};${top};justify-content:${alignments[text.verticalAlign]};${lettering}${turn(text.rotation)}`;
  const fit = mayNotFit(text, { checksFit }) ? ` data-fit="${escapeHtml(mark)}"` : "";
  const fixed = text.isAutoresized ? "" : ' data-fixed="1"';
  const kind = text.splitsLongWords ? "b" : "b n";
  const letters = styles.classOf(`${font};top:${round(place.shift)}em`);
  return `<div class="${kind} ${styles.classOf(box)}"${fit}${fit === "" ? "" : fixed}><div class="t ${letters}">${body}</div></div>`;
}

/** Whether the browser measures if the text fits its box. */
export function mayNotFit(
  text: DrawnText,
  { checksFit = false }: { readonly checksFit?: boolean | undefined },
): boolean {
  if (text.type === "textarea" || !(text.isAutoresized || checksFit)) return false;
  return !surelyFits(prepareLines(text.value), text, placeText(text));
}

function turn(rotation: number, then = ""): string {
  return rotation % 360 === 0 ? "" : `;transform-origin:0 0;transform:rotate(${round(rotation % 360)}deg) ${then}`;
}

function drawLine(line: string, { gap }: { readonly gap: number }): string {
  const margin = gap === 0 ? "" : ` style="margin-top:${round(gap)}em"`;
  // A line may break after any hyphen, by <wbr>, which adds no character to the text of the PDF.
  const content = line.trim() === "" ? "<br>" : escapeHtml(line).replaceAll(/[-\u2010](?=\S)/g, "$&<wbr>");
  return `<p dir="auto"${margin}>${content}</p>`;
}

function describeLetters(text: DrawnText, content: string): string {
  const [red, green, blue] = text.color.map((channel) => Math.round(Math.min(Math.max(channel, 0), 255)));
  const chain = fontChain(content, text.language);
  const parts = [
    `text-align:${text.align}`,
    `color:rgb(${red},${green},${blue})`,
    ...(text.bold ? ["font-weight:700"] : []),
    ...(text.italic ? ["font-style:italic"] : []),
    // Most texts need only the default fonts.
    ...(isPlain(content) ? [] : [`font-family:${chain.map((name) => `'${name}'`).join(",")}`]),
  ];
  return parts.join(";");
}

function isPlain(content: string): boolean {
  return /^[\n -~\u00a0-\u017f\u2013\u2014\u2018-\u201e\u2022\u2026\u20ac]*$/.test(content);
}

function round(value: number): number {
  return Math.round(value * 100_000) / 100_000;
}
