import type { PoweredBy } from "../elements/element.ts";
import { pixels, pixelsPerMm } from "./page-units.ts";
import { markHeight, markWidth, nameOutline, wordsOutline } from "./powered-by-paths.ts";

/** Width divided by height. */
export const poweredByRatio = markWidth / markHeight;

/** The mark with its place: millimetres from the lower left corner of the page. */
export interface PlacedMark {
  readonly left: number;
  readonly bottom: number;
  readonly height: number;
  readonly style: PoweredBy["style"];
}

interface Shape {
  readonly outline: string;
  readonly color: readonly [number, number, number];
}

/** Seven tiles of clay in two rows above the name, one of them glazed. */
const tile = 118;
const tiles = [
  [0, 0, 0],
  [0, 1, 1],
  [0, 2, 0],
  [0, 3, 2],
  [1, 0.5, 1],
  [1, 1.5, 3],
  [1, 2.5, 0],
] as const;

const palettes = {
  dark: {
    ink: [31, 41, 55],
    quiet: [107, 114, 128],
    tiles: [
      [190, 82, 42],
      [221, 138, 92],
      [146, 64, 38],
      [15, 118, 110],
    ],
  },
  white: {
    ink: [255, 255, 255],
    quiet: [255, 255, 255],
    tiles: [
      [255, 255, 255],
      [255, 255, 255],
      [255, 255, 255],
      [255, 255, 255],
    ],
  },
} as const satisfies Record<PoweredBy["style"], unknown>;

function shapesOf(style: PoweredBy["style"]): Shape[] {
  const { ink, quiet, tiles: colors } = palettes[style];
  const gap = 22;
  const left = (markWidth - 4 * tile - 3 * gap) / 2;
  const tileShapes = tiles.map(([row, column, color]) => {
    const [x, y] = [Math.round(left + column * (tile + gap)), 60 + row * (tile + gap)];
    const round = 16;
    const edge = tile - 2 * round;
    const outline = `M${x + round} ${y}h${edge}q${round} 0 ${round} ${round}v${edge}q0 ${round}-${round} ${round}h-${edge}q-${round} 0-${round}-${round}v-${edge}q0-${round} ${round}-${round}z`;
    return { outline, color: colors[color] };
  });
  return [...tileShapes, { outline: wordsOutline, color: quiet }, { outline: nameOutline, color: ink }];
}

/** Draws the mark in HTML, if something lies over the mark. */
export function drawMark({ left, bottom, height, style }: PlacedMark, page: { readonly height: number }): string {
  const place = `left:${pixels(left * pixelsPerMm)};top:${pixels((page.height - bottom - height) * pixelsPerMm)};width:${pixels(height * poweredByRatio * pixelsPerMm)};height:${pixels(height * pixelsPerMm)}`;
  const paths = shapesOf(style).map(({ outline, color }) => `<path fill="rgb(${color.join(",")})" d="${outline}"/>`);
  return `<svg class="m" style="${place}" viewBox="0 0 ${markWidth} ${markHeight}">${paths.join("")}</svg>`;
}

/** Draws the mark with PDF operators, in a box of its own width and height. */
export function markOperators(style: PoweredBy["style"]): string {
  return shapesOf(style)
    .map(
      ({ outline, color }) =>
        `${color.map((channel) => (channel / 255).toFixed(3)).join(" ")} rg\n${toOperators(outline)}f\n`,
    )
    .join("");
}

/** Converts an SVG path (M, h, v, l, q, z) to PDF operators, with y upwards. */
function toOperators(outline: string): string {
  let [x, y] = [0, 0];
  const point = (at: number, to: number) =>
    `${Math.round(at * 100) / 100} ${Math.round((markHeight - to) * 100) / 100}`;
  return Array.from(outline.matchAll(/([Mhvlqz])([^Mhvlqz]*)/g), ([, command = "", values = ""]) => {
    const [a = 0, b = 0, c = 0, d = 0] = (values.match(/-?[0-9.]+/g) ?? []).map(Number);
    if (command === "z") return "h\n";
    if (command === "M") {
      [x, y] = [a, b];
      return `${point(x, y)} m\n`;
    }
    if (command === "q") {
      // Converts a quadratic curve to a cubic one.
      const [cx, cy, ex, ey] = [x + a, y + b, x + c, y + d];
      const first = point(x + ((cx - x) * 2) / 3, y + ((cy - y) * 2) / 3);
      const second = point(ex + ((cx - ex) * 2) / 3, ey + ((cy - ey) * 2) / 3);
      [x, y] = [ex, ey];
      return `${first} ${second} ${point(x, y)} c\n`;
    }
    x += command === "v" ? 0 : a;
    y += command === "v" ? a : command === "h" ? 0 : b;
    return `${point(x, y)} l\n`;
  }).join("");
}
