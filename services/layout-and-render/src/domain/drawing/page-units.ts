/** Points per millimetre. */
export const pointsPerMm = 72 / 25.4;

/** Pages are drawn enlarged, because the browser rounds the height of letters to whole pixels. */
export const enlargement = 10;

/** Pixels on the enlarged page per millimetre, and per point. */
export const pixelsPerMm = (96 / 25.4) * enlargement;
export const pixelsPerPoint = (96 / 72) * enlargement;

/** Beyond every page, and within the browser's range of lengths. */
const farthest = 1_000_000;

export function pixels(length: number): string {
  return `${Math.round(bound(length) * 1000) / 1000}px`;
}

/** Clamps a length, so that it is written without an exponent. */
export function bound(length: number): number {
  return Math.min(Math.max(length, -farthest), farthest) || 0;
}
