/** Points per millimetre. */
export const pointsPerMm = 72 / 25.4;

/** How much larger pages are drawn than they are: the browser rounds the height of letters to whole pixels. */
export const enlargement = 10;

/** Pixels on the enlarged page per millimetre, and per point. */
export const pixelsPerMm = (96 / 25.4) * enlargement;
export const pixelsPerPoint = (96 / 72) * enlargement;

/** Beyond every page, and small enough for the browser to count on. */
const farthest = 1_000_000;

/** A length for CSS. */
export function pixels(length: number): string {
  return `${Math.round(bound(length) * 1000) / 1000}px`;
}

/** A length that is written with digits alone. */
export function bound(length: number): number {
  return Math.min(Math.max(length, -farthest), farthest) || 0;
}
