import QRCode, { type QRCodeSegment } from "qrcode";
import { chooseMask } from "./choose-mask.ts";

/** A QR code: dark modules, row by row from the top. */
export interface QrCode {
  /** Modules on each side, without the quiet zone. */
  readonly side: number;
  readonly isDark: (row: number, column: number) => boolean;
}

/** Modules that stay free on each side. */
export const quietZone = 4;

export type Redundancy = "H" | "M" | "L";

/** How much of a code may be damaged: short texts have room for more. */
export function redundancyOf(value: string): Redundancy {
  const { length } = [...value];
  return length <= 32 ? "H" : length <= 128 ? "M" : "L";
}

/** Encodes a text; undefined: it is too long for any code. */
export function encodeQr(value: string): QrCode | undefined {
  const level = redundancyOf(value);
  const segment: QRCodeSegment = /^[0-9]+$/.test(value)
    ? { data: value, mode: "numeric" }
    : /^[0-9A-Z $%*+./:-]+$/.test(value)
      ? { data: value, mode: "alphanumeric" }
      : { data: new TextEncoder().encode(value), mode: "byte" };
  try {
    const { modules } = QRCode.create([segment], { errorCorrectionLevel: level, maskPattern: 0 });
    const { size: side, data, reservedBit: reserved } = modules;
    const masked = chooseMask({ side, modules: data, reserved, level });
    return { side, isDark: (row, column) => masked[row * side + column] === 1 };
  } catch {
    return undefined;
  }
}

/** A run of dark modules in a row. */
export interface DarkRun {
  readonly row: number;
  readonly column: number;
  readonly length: number;
}

/** All dark modules, as runs. */
export function darkRuns({ side, isDark }: QrCode): DarkRun[] {
  const runs: DarkRun[] = [];
  for (let row = 0; row < side; row += 1) {
    for (let column = 0; column < side; column += 1) {
      if (!isDark(row, column)) continue;
      const begin = column;
      while (column < side && isDark(row, column)) column += 1;
      runs.push({ row, column: begin, length: column - begin });
    }
  }
  return runs;
}
