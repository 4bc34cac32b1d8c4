import type { EncodeSymbol } from "../code-symbol.ts";
import type { ResolvedElement } from "../elements/resolved-element.ts";
import { drawCode, type PlacedCode, placeCode } from "./draw-code.ts";
import { type DrawnText, drawText } from "./draw-text.ts";
import { type Area, mayCover, reachOf } from "./may-cover.ts";
import { pixels, pixelsPerMm } from "./page-units.ts";
import { type PlacedPicture, placePicture } from "./place-picture.ts";
import type { PlainJpeg } from "./plain-jpeg.ts";
import { drawMark, type PlacedMark } from "./powered-by.ts";
import type { StyleSheet } from "./style-sheet.ts";

/** What PDF operators can draw. */
export type Placed = PlacedCode | PlacedMark | PlacedPicture;

export interface Stamped {
  readonly element: DrawnText;
  /** The number of the stamp in the file. */
  readonly stamp: number;
}

/** The elements that are drawn over a page of the background. */
export interface DrawnPage {
  /** Texts that are drawn first, each by a stamp shared with other pages. */
  readonly stamped: readonly Stamped[];
  /** What the browser draws over the stamps for this page alone; empty: nothing. */
  readonly html: string;
  /** The texts in the HTML. */
  readonly texts: readonly DrawnText[];
  /** What PDF operators draw on top: several times faster than the browser, and smaller. */
  readonly above: readonly Placed[];
  /** All codes, for their invisible text. */
  readonly codes: readonly PlacedCode[];
  /** Marks of codes whose content is too long. */
  readonly misfits: readonly string[];
}

export interface PageContext {
  /** The height of the page, in millimetres. */
  readonly height: number;
  /** Names an element of the ticket in findings. */
  readonly markOf: (element: ResolvedElement) => string;
  /** The picture of an element, if a PDF can embed it unchanged. */
  readonly jpegOf: (element: ResolvedElement) => PlainJpeg | undefined;
  /** The number of the picture of an element; undefined: there is no readable picture. */
  readonly imageOf: (element: ResolvedElement) => number | undefined;
  /** The number of the stamp of a text; undefined: too few pages have the text. */
  readonly stampOf: (element: DrawnText) => number | undefined;
  readonly encode: EncodeSymbol;
  readonly styles: StyleSheet;
  /** Whether findings name all texts that do not fit their box, not only texts that shrink. */
  readonly checksFit?: boolean | undefined;
}

/** Draws the elements of a page in order, later ones over earlier ones. */
export function drawPage(elements: readonly ResolvedElement[], context: PageContext): DrawnPage {
  const stamped: Stamped[] = [];
  const texts: DrawnText[] = [];
  const above: Placed[] = [];
  const codes: PlacedCode[] = [];
  const misfits: string[] = [];
  const areas = new Map<ResolvedElement, Area>();
  const areaOf = (element: ResolvedElement): Area => {
    const area = areas.get(element) ?? reachOf(element);
    areas.set(element, area);
    return area;
  };
  const overlap = (one: ResolvedElement, other: ResolvedElement) => mayCover(areaOf(one), areaOf(other));
  /** What the browser has drawn so far: a stamp would lie below. */
  const drawn: ResolvedElement[] = [];
  let html = "";
  for (const [index, element] of elements.entries()) {
    if (element.type === "textarea" || element.type === "textcontainer") {
      const stamp = drawn.some((earlier) => overlap(earlier, element)) ? undefined : context.stampOf(element);
      if (stamp === undefined) {
        texts.push(element);
        draw(element, drawText(element, { ...context, mark: context.markOf(element) }));
      } else stamped.push({ element, stamp });
      continue;
    }
    const isBelow = elements.slice(index + 1).some((later) => overlap(later, element));
    if (element.type === "imagearea") {
      const jpeg = isBelow || !(element.width > 0 && element.height > 0) ? undefined : context.jpegOf(element);
      if (jpeg === undefined) draw(element, drawImage(element, context));
      else above.push(placePicture(element, jpeg));
    } else if (element.type === "poweredby") {
      const { left, bottom, size: height, style } = element;
      const mark = { left, bottom, height, style };
      if (!(height > 0)) continue;
      if (isBelow) draw(element, drawMark(mark, context));
      else above.push(mark);
    } else {
      const code = placeCode(element, context.encode);
      if (code === undefined) {
        if (element.value !== "") misfits.push(context.markOf(element));
        continue;
      }
      codes.push(code);
      if (isBelow) draw(element, drawCode(code, context));
      else above.push(code);
    }
  }
  return { stamped, html, texts, above, codes, misfits };

  function draw(element: ResolvedElement, as: string): void {
    drawn.push(element);
    html += as;
  }
}

function drawImage(
  element: ResolvedElement & { readonly type: "imagearea" },
  { height, imageOf, styles }: PageContext,
): string {
  const number = imageOf(element);
  const place = `left:${pixels(element.left * pixelsPerMm)};top:${pixels((height - element.bottom - element.height) * pixelsPerMm)};width:${pixels(Math.max(0, element.width) * pixelsPerMm)};height:${pixels(Math.max(0, element.height) * pixelsPerMm)}`;
  return number === undefined
    ? `<div class="i ${styles.classOf(`${place};background-color:#ccc`)}"></div>`
    : `<div class="i ${styles.classOf(place)}" data-image="${number}"></div>`;
}
