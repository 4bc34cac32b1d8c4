import bwip from "@bwip-js/node";
import { encodeQr } from "./drawing/qr-code.ts";
import type { BarcodeArea, Symbology } from "./elements/element.ts";

/** A code without its place: rows of modules from the top. */
export interface CodeSymbol {
  readonly columns: number;
  readonly rows: number;
  readonly rowHeight: number;
  /** Free modules on each side. */
  readonly quietZone: number;
  readonly isDark: (row: number, column: number) => boolean;
}

/** For codes other than QR: encoding time grows with the text, and larger codes are unreadable on a ticket. */
const mostBytes = 150;

/** The encoder's names of the codes, and their quiet zones in modules. */
const encoders = {
  aztec: { bcid: "azteccode", quietZone: 1 },
  datamatrix: { bcid: "datamatrix", quietZone: 1 },
  pdf417: { bcid: "pdf417", quietZone: 2 },
  code128: { bcid: "code128", quietZone: 10 },
} as const;

/** The height of bars relative to the length of the code. */
const barsHeight = 0.25;

/** Encodes a text; undefined: no code of this kind can hold the text. */
export type EncodeSymbol = (symbology: Symbology, value: string) => CodeSymbol | undefined;

/** Takes up to some tens of milliseconds. */
export function encodeSymbol(symbology: Symbology, value: string): CodeSymbol | undefined {
  if (symbology === "qr") {
    const qr = encodeQr(value);
    return qr === undefined ? undefined : { ...qr, columns: qr.side, rows: qr.side, rowHeight: 1, quietZone: 4 };
  }
  const { bcid, quietZone } = encoders[symbology];
  const text = Buffer.from(value, "utf8");
  if (text.length > mostBytes || (symbology === "code128" && !/^[ -~]*$/.test(value))) return undefined;
  let drawn: Drawn | undefined;
  try {
    [drawn] = bwip.raw({ bcid, text: text.toString("latin1"), binarytext: true }) as readonly Drawn[];
  } catch {
    return undefined;
  }
  if (drawn === undefined) return undefined;
  if ("sbs" in drawn) {
    const modules = drawn.sbs.flatMap((width, index) => Array<boolean>(width).fill(index % 2 === 0));
    const isDark = (_row: number, column: number) => modules[column] === true;
    return { columns: modules.length, rows: 1, rowHeight: modules.length * barsHeight, quietZone, isDark };
  }
  const { pixs, pixx: columns, pixy: height } = drawn;
  const rows = pixs.length / columns;
  // A row of PDF417 is three modules high, so that a tilted scanner stays within the row.
  const rowHeight = height / rows;
  return { columns, rows, rowHeight, quietZone, isDark: (row, column) => pixs[row * columns + column] === 1 };
}

/** The encoder's output: widths of bars and gaps in turn, or modules row by row (1 is dark) with the total height. */
type Drawn =
  | { readonly sbs: readonly number[] }
  | { readonly pixs: ArrayLike<number>; readonly pixx: number; readonly pixy: number };

/** How many modules `size` spans: the longer side, with its quiet zone. */
export function modulesAcross(
  { columns, rows, rowHeight, quietZone }: CodeSymbol,
  { hasQuietZone }: Pick<BarcodeArea, "hasQuietZone">,
): number {
  return Math.max(columns, rows * rowHeight) + (hasQuietZone ? 2 * quietZone : 0);
}

/** A run of dark modules in a row. */
export interface DarkRun {
  readonly row: number;
  readonly column: number;
  readonly length: number;
}

export function darkRuns({ columns, rows, isDark }: CodeSymbol): DarkRun[] {
  const runs: DarkRun[] = [];
  for (let row = 0; row < rows; row += 1) {
    for (let column = 0; column < columns; column += 1) {
      if (!isDark(row, column)) continue;
      const begin = column;
      while (column < columns && isDark(row, column)) column += 1;
      runs.push({ row, column: begin, length: column - begin });
    }
  }
  return runs;
}
