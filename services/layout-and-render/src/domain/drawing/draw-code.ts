import { type CodeSymbol, darkRuns, type EncodeSymbol, modulesAcross } from "../code-symbol.ts";
import type { BarcodeArea, Color } from "../elements/element.ts";
import { bound, pixels, pixelsPerMm } from "./page-units.ts";

/** A code with its place: millimetres from the lower left corner of the page. */
export interface PlacedCode {
  readonly symbol: CodeSymbol;
  /** The corner of its first module, without the quiet zone. */
  readonly left: number;
  readonly top: number;
  /** The side of one module. */
  readonly module: number;
  readonly color: Color;
  /** The name of the variable, and the content of the code. */
  readonly name: string;
  readonly value: string;
}

/** Undefined: the content is empty or too long. */
export function placeCode(
  element: BarcodeArea & { readonly value: string },
  encode: EncodeSymbol,
): PlacedCode | undefined {
  if (element.value === "" || !(element.size > 0)) return undefined;
  const symbol = encode(element.symbology, element.value);
  if (symbol === undefined) return undefined;
  const margin = element.hasQuietZone ? symbol.quietZone : 0;
  const module = element.size / modulesAcross(symbol, element);
  return {
    symbol,
    module,
    left: element.left + margin * module,
    top: element.bottom + (margin + symbol.rows * symbol.rowHeight) * module,
    color: element.color,
    name: element.content,
    value: element.value,
  };
}

/** Draws a code in HTML, if something lies over the code. */
export function drawCode(
  { symbol, left, top, module, color }: PlacedCode,
  { height }: { readonly height: number },
): string {
  const [width, tall] = [symbol.columns, symbol.rows * symbol.rowHeight].map((length) =>
    pixels(module * length * pixelsPerMm),
  );
  const path = darkRuns(symbol)
    .map(({ row, column, length }) => `M${column} ${row}h${length}v1h-${length}z`)
    .join("");
  const place = `left:${pixels(left * pixelsPerMm)};top:${pixels((height - top) * pixelsPerMm)};width:${width};height:${tall}`;
  return `<svg class="q" style="${place}" viewBox="0 0 ${symbol.columns} ${symbol.rows}" preserveAspectRatio="none"><path fill="rgb(${color.map(Math.round).join(",")})" d="${path}"/></svg>`;
}

/** Draws a code with PDF operators, in points. One path, so that there are no seams between rows. */
export function codeOperators({ symbol, left, top, module, color }: PlacedCode, pointsPerUnit: number): string {
  const [scale, tall, x, y] = [module, module * symbol.rowHeight, left, top].map((length) =>
    bound(length * pointsPerUnit).toFixed(5),
  );
  let runs = "";
  for (const { row, column, length } of darkRuns(symbol)) runs += `${column} ${-row - 1} ${length} 1 re\n`;
  const fill = color.map((channel) => Number((Math.min(Math.max(channel, 0), 255) / 255).toFixed(4))).join(" ");
  return `q\n${fill} rg\n${scale} 0 0 ${tall} ${x} ${y} cm\n${runs}f\nQ\n`;
}
