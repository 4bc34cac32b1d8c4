/** Red, green and blue, 0 to 255. */
export type Color = readonly [red: number, green: number, blue: number];

export type Point = readonly [x: number, y: number];

/** The distance of the control points of a Bézier quarter circle from its ends. */
const quarter = 0.5523;

/** A quarter of an ellipse between two points, around the corner between them. */
export function arc(from: Point, corner: Point, to: Point): string {
  const near = ([x, y]: Point): Point => [x + (corner[0] - x) * quarter, y + (corner[1] - y) * quarter];
  return `${at(near(from))} ${at(near(to))} ${at(to)} c\n`;
}

export function at([x, y]: Point): string {
  return `${round(x)} ${round(y)}`;
}

/** The color operands. */
export function paint(color: Color): string {
  return color.map((channel) => round(channel / 255)).join(" ");
}

/** Thousandths are finer than any printer. */
function round(value: number): number {
  return Math.round(value * 1000) / 1000;
}
