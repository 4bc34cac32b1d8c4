import { inflateSync } from "node:zlib";

/** Reads a picture of `encodePng`: red, green and blue of each pixel, row by row from the top. */
export function decodePng(png: Uint8Array): {
  readonly width: number;
  readonly height: number;
  readonly colorAt: (column: number, row: number) => readonly number[];
} {
  const bytes = Buffer.from(png.buffer, png.byteOffset, png.byteLength);
  const [width, height] = [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
  const at = bytes.indexOf("IDAT");
  const rows = inflateSync(bytes.subarray(at + 4, at + 4 + bytes.readUInt32BE(at - 4)));
  return {
    width,
    height,
    colorAt(column, row) {
      const from = row * (1 + 3 * width) + 1 + 3 * column;
      return [...rows.subarray(from, from + 3)];
    },
  };
}
