import QRCode, { type QRCodeSegment } from "qrcode";

/** A QR code: dark modules, row by row from the top. */
export interface QrCode {
  /** Modules on each side, without the quiet zone. */
  readonly side: number;
  readonly isDark: (row: number, column: number) => boolean;
}

export type Redundancy = "H" | "M" | "L";

/** The error correction level: short texts have room for more. */
export function redundancyOf(value: string): Redundancy {
  const { length } = [...value];
  return length <= 32 ? "H" : length <= 128 ? "M" : "L";
}

/**
 * A code names its mask, so readers accept any. To compare all eight takes the encoder ten times as long. With this
 * mask the worst codes, those of one repeated letter, are least uniform.
 */
const maskPattern = 3;

/** Encodes a text; undefined: the text is too long for any code. */
export function encodeQr(value: string): QrCode | undefined {
  const level = redundancyOf(value);
  const segment: QRCodeSegment = /^[0-9]+$/.test(value)
    ? { data: value, mode: "numeric" }
    : /^[0-9A-Z $%*+./:-]+$/.test(value)
      ? { data: value, mode: "alphanumeric" }
      : { data: new TextEncoder().encode(value), mode: "byte" };
  try {
    const { size: side, data } = QRCode.create([segment], { errorCorrectionLevel: level, maskPattern }).modules;
    return { side, isDark: (row, column) => data[row * side + column] === 1 };
  } catch {
    return undefined;
  }
}
