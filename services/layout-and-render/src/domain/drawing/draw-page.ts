import type { ResolvedElement } from "../elements/resolved-element.ts";
import { drawCode, type PlacedCode, placeCode } from "./draw-code.ts";
import { drawText } from "./draw-text.ts";
import { mayCover } from "./may-cover.ts";
import { pixels, pixelsPerMm } from "./page-units.ts";
import { type PlacedPicture, placePicture } from "./place-picture.ts";
import type { PlainJpeg } from "./plain-jpeg.ts";
import { drawMark, type PlacedMark } from "./powered-by.ts";
import type { StyleSheet } from "./style-sheet.ts";

/** What the PDF's own operators can draw. */
export type Placed = PlacedCode | PlacedMark | PlacedPicture;

/** What is drawn over a page of the background. */
export interface DrawnPage {
  /** What the browser draws; empty: nothing. */
  readonly html: string;
  /** What the PDF's own operators draw over that: several times faster than the browser, and smaller. */
  readonly above: readonly Placed[];
  /** All codes, for their text for programs. */
  readonly codes: readonly PlacedCode[];
  /** Marks of codes whose text is too long for any. */
  readonly misfits: readonly string[];
}

export interface PageContext {
  /** Of the page, in millimetres. */
  readonly height: number;
  /** Names an element of the ticket in findings. */
  readonly markOf: (element: ResolvedElement) => string;
  /** The picture of an element, if a PDF can show it as it is. */
  readonly jpegOf: (element: ResolvedElement) => PlainJpeg | undefined;
  /** The number of the picture of an element; undefined: it has none that can be read. */
  readonly imageOf: (element: ResolvedElement) => number | undefined;
  readonly styles: StyleSheet;
  /** Whether findings name all texts that do not fit their box, not only those that shrink. */
  readonly checksFit?: boolean | undefined;
}

/** Draws the elements of a page in their order, later ones over earlier ones. */
export function drawPage(elements: readonly ResolvedElement[], context: PageContext): DrawnPage {
  const above: Placed[] = [];
  const codes: PlacedCode[] = [];
  const misfits: string[] = [];
  const parts = elements.map((element, index) => {
    if (element.type === "textarea" || element.type === "textcontainer") return drawElement(element, context);
    const isBelow = elements.slice(index + 1).some((later) => mayCover(later, element));
    if (element.type === "imagearea") {
      const jpeg = isBelow || !(element.width > 0 && element.height > 0) ? undefined : context.jpegOf(element);
      if (jpeg === undefined) return drawElement(element, context);
      above.push(placePicture(element, jpeg));
      return "";
    }
    if (element.type === "poweredby") {
      const { left, bottom, size: height, style } = element;
      if (!(height > 0)) return "";
      const mark = { left, bottom, height, style };
      if (isBelow) return drawMark(mark, context);
      above.push(mark);
      return "";
    }
    const code = placeCode(element);
    if (code === undefined) {
      if (element.value !== "") misfits.push(context.markOf(element));
      return "";
    }
    codes.push(code);
    if (isBelow) return drawCode(code, context);
    above.push(code);
    return "";
  });
  return { html: parts.join(""), above, codes, misfits };
}

function drawElement(
  element: Exclude<ResolvedElement, { readonly type: "barcodearea" | "poweredby" }>,
  { height, markOf, imageOf, checksFit, styles }: PageContext,
): string {
  switch (element.type) {
    case "textarea":
    case "textcontainer":
      return drawText(element, { height, mark: markOf(element), styles, checksFit });
    case "imagearea": {
      const number = imageOf(element);
      const place = `left:${pixels(element.left * pixelsPerMm)};top:${pixels((height - element.bottom - element.height) * pixelsPerMm)};width:${pixels(Math.max(0, element.width) * pixelsPerMm)};height:${pixels(Math.max(0, element.height) * pixelsPerMm)}`;
      return number === undefined
        ? `<div class="i ${styles.classOf(`${place};background-color:#ccc`)}"></div>`
        : `<div class="i ${styles.classOf(place)}" data-image="${number}"></div>`;
    }
  }
}
