import { brotliDecompressSync } from "node:zlib";

const headerBytes = 48;

/** Numbers of known tables (WOFF File Format 2.0, 4.1). */
const known = { cmap: 0, glyf: 10, loca: 11, named: 63 };

/** Unpacks the `cmap` table of a WOFF2 font, whose tables are compressed together, in order. */
export function unpackCmap(font: Buffer): Buffer {
  let at = headerBytes;
  let begin = 0;
  let found: { readonly begin: number; readonly length: number } | undefined;
  for (let table = 0; table < font.readUInt16BE(12); table += 1) {
    const flags = font.readUInt8(at);
    const [tag, version] = [flags & 63, flags >> 6];
    at += tag === known.named ? 5 : 1;
    const original = readLength();
    const isTransformed = tag === known.glyf || tag === known.loca ? version !== 3 : version !== 0;
    const length = isTransformed ? readLength() : original;
    if (tag === known.cmap) found = { begin, length };
    begin += length;
  }
  if (found === undefined) throw new Error("a font has no table of characters");
  const tables = brotliDecompressSync(font.subarray(at, at + font.readUInt32BE(20)));
  return tables.subarray(found.begin, found.begin + found.length);

  /** Seven bits per byte; the last byte has no high bit. */
  function readLength(): number {
    let length = 0;
    for (;;) {
      const byte = font.readUInt8(at);
      at += 1;
      length = length * 128 + (byte & 127);
      if (byte < 128) return length;
    }
  }
}
