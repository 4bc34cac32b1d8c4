import QRCode, { type QRCodeSegment } from "qrcode";
import { chooseMask } from "./choose-mask.ts";

/** A QR code: dark modules, row by row from the top. */
export interface QrCode {
  /** Modules on each side, without the quiet zone. */
  readonly side: number;
  readonly isDark: (row: number, column: number) => boolean;
}

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
