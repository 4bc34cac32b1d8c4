import { pointsPerMm } from "../drawing/page-units.ts";
import { placeText } from "../drawing/place-text.ts";
import { poweredByRatio } from "../drawing/powered-by.ts";
import type { LayoutElement } from "../elements/element.ts";
import { type Finding, showLength } from "./finding.ts";

/** A page, in millimetres. */
export interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** Millimetres from the lower left corner. */
type Point = readonly [x: number, y: number];

/** The precision of positions. */
const tolerance = 0.1;

/** Finds elements that have no size, are on no page, or extend beyond their page. */
export function findMisplaced(elements: readonly LayoutElement[], pages: readonly PageSize[]): Finding[] {
  return elements.flatMap((element, index): Finding[] => {
    const sizes = findSizes(element, index);
    const page = pages[element.page - 1];
    if (page === undefined) {
      const count = pages.length === 1 ? "1 page" : `${pages.length} pages`;
      const message = `There is no page ${element.page}: the background has ${count}. Choose another page.`;
      return [...sizes, { element: index, code: "no_such_page", message }];
    }
    const out = sizes.length > 0 ? 0 : overhang(outlineOf(element), page);
    if (out <= tolerance) return sizes;
    return [
      {
        element: index,
        code: "outside_page",
        message: `It sticks out of the page by ${showLength(out)}. Move it, or make it smaller.`,
      },
    ];
  });
}

/** The dimensions of an element that must be positive, by their names in a layout. */
function lengthsOf(element: LayoutElement): Readonly<Record<string, number>> {
  switch (element.type) {
    case "barcodearea":
    case "poweredby":
      return { size: element.size };
    case "imagearea":
      return { width: element.width, height: element.height };
    case "textarea":
      return { width: element.width, fontsize: element.fontSize, lineheight: element.lineHeight ?? 1 };
    case "textcontainer": {
      const { width, height, fontSize: fontsize, lineHeight: lineheight } = element;
      return { width, height, fontsize, lineheight };
    }
  }
}

function findSizes(element: LayoutElement, index: number): Finding[] {
  const wrong = Object.entries(lengthsOf(element)).filter(([, length]) => !(length > 0));
  return wrong.map(([name]) => ({ element: index, code: "no_size", message: `Its ${name} must be more than 0.` }));
}

/** The corners of an element; of text without a box, those of the first line. */
export function outlineOf(element: LayoutElement): Point[] {
  const { left, bottom } = element;
  switch (element.type) {
    case "barcodearea":
      return rectangle([left, bottom], element.size, element.size);
    case "poweredby":
      return rectangle([left, bottom], element.size * poweredByRatio, element.size);
    case "imagearea":
      return rectangle([left, bottom], element.width, element.height);
    case "textcontainer":
      return turned(rectangle([left, bottom], element.width, element.height), element.rotation, [
        left,
        bottom + element.height,
      ]);
    case "textarea": {
      const height = (placeText(element).advance * element.fontSize) / pointsPerMm;
      const low = element.downward ? bottom - height : bottom;
      return turned(rectangle([left, low], element.width, height), element.rotation, [left, low + height]);
    }
  }
}

function rectangle([left, bottom]: Point, width: number, height: number): Point[] {
  return [
    [left, bottom],
    [left + width, bottom],
    [left + width, bottom + height],
    [left, bottom + height],
  ];
}

/** Rotates points clockwise about another point. */
function turned(points: readonly Point[], degrees: number, [x, y]: Point): Point[] {
  const angle = (-(degrees % 360) * Math.PI) / 180;
  const [sin, cos] = [Math.sin(angle), Math.cos(angle)];
  return points.map(([px, py]) => [x + (px - x) * cos - (py - y) * sin, y + (px - x) * sin + (py - y) * cos]);
}

/** How far points lie beyond a page at most; not positive: they are on the page. */
function overhang(points: readonly Point[], { width, height }: PageSize): number {
  return Math.max(...points.flatMap(([x, y]) => [-x, x - width, -y, y - height]));
}
