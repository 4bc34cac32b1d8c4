import type { BarcodeArea, Color } from "./element.ts";
import { pixels, pixelsPerMm } from "./page-units.ts";
import { darkRuns, encodeQr, type QrCode, quietZone } from "./qr-code.ts";

/** A code where it stands: millimetres from the lower left corner of the page. */
export interface PlacedCode {
  readonly qr: QrCode;
  /** The corner of its first module, without the quiet zone. */
  readonly left: number;
  readonly top: number;
  /** The side of one module. */
  readonly module: number;
  readonly color: Color;
  /** What it is called in the layout, and what it says. */
  readonly name: string;
  readonly value: string;
}

/** Undefined: there is nothing to draw, or too much. */
export function placeCode(element: BarcodeArea & { readonly value: string }): PlacedCode | undefined {
  if (element.value === "" || !(element.size > 0)) return undefined;
  const qr = encodeQr(element.value);
  if (qr === undefined) return undefined;
  const margin = element.hasQuietZone ? quietZone : 0;
  const module = element.size / (qr.side + 2 * margin);
  return {
    qr,
    module,
    left: element.left + margin * module,
    top: element.bottom + element.size - margin * module,
    color: element.color,
    name: element.content,
    value: element.value,
  };
}

/** Draws a code in HTML, where something lies over it. */
export function drawCode(
  { qr, left, top, module, color }: PlacedCode,
  { height }: { readonly height: number },
): string {
  const side = pixels(module * qr.side * pixelsPerMm);
  const path = darkRuns(qr)
    .map(({ row, column, length }) => `M${column} ${row}h${length}v1h-${length}z`)
    .join("");
  const place = `left:${pixels(left * pixelsPerMm)};top:${pixels((height - top) * pixelsPerMm)};width:${side};height:${side}`;
  return `<svg class="q" style="${place}" viewBox="0 0 ${qr.side} ${qr.side}"><path fill="rgb(${color.map(Math.round).join(",")})" d="${path}"/></svg>`;
}

/** Draws a code with the operators of PDF, in points. One path without seams between its rows. */
export function codeOperators({ qr, left, top, module, color }: PlacedCode, pointsPerUnit: number): string {
  const [scale, x, y] = [module, left, top].map((length) => (length * pointsPerUnit).toFixed(5));
  const runs = darkRuns(qr).map(({ row, column, length }) => `${column} ${-row - 1} ${length} 1 re`);
  const fill = color.map((channel) => Number((Math.min(Math.max(channel, 0), 255) / 255).toFixed(4))).join(" ");
  return `q\n${fill} rg\n${scale} 0 0 ${scale} ${x} ${y} cm\n${runs.join("\n")}\nf\nQ\n`;
}
