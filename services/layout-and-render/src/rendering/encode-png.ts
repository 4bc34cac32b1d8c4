import { crc32, deflateSync } from "node:zlib";

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** RGBA pixels, row by row from the top. The buffer is overwritten. */
  readonly data: Uint8Array;
}

/** A higher level takes several times longer, and saves a fifth. */
const level = 3;

const millimetresPerInch = 25.4;

/** Encodes opaque pixels as PNG: the alpha channel is dropped. */
export function encodePng({ width, height, data }: Pixels, { dpi }: { readonly dpi: number }): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  // 8 bits per channel, RGB.
  header.set([8, 2, 0, 0, 0], 8);
  const density = Buffer.alloc(9, 1);
  const dotsPerMetre = Math.round((dpi * 1000) / millimetresPerInch);
  density.writeUInt32BE(dotsPerMetre, 0);
  density.writeUInt32BE(dotsPerMetre, 4);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("pHYs", density),
    chunk("IDAT", deflateSync(packRows({ width, height, data }), { level })),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** Packs rows in place: each begins with its filter type, and takes less room than before. */
function packRows({ width, height, data }: Pixels): Uint8Array {
  const rowBytes = 1 + 3 * width;
  for (let row = 0; row < height; row += 1) {
    let [from, to] = [row * width * 4, row * rowBytes];
    // A row of one pixel keeps its length, so its filter type would overwrite its red before that is read.
    const [red = 0, green = 0, blue = 0] = data.subarray(from, from + 3);
    data[to] = 0;
    data[to + 1] = red;
    data[to + 2] = green;
    data[to + 3] = blue;
    to += 4;
    for (from += 4; from < (row + 1) * width * 4; from += 4) {
      data[to] = data[from] ?? 0;
      data[to + 1] = data[from + 1] ?? 0;
      data[to + 2] = data[from + 2] ?? 0;
      to += 3;
    }
  }
  return data.subarray(0, height * rowBytes);
}

function chunk(name: string, content: Uint8Array): Buffer {
  const bytes = Buffer.alloc(12 + content.length);
  bytes.writeUInt32BE(content.length, 0);
  bytes.write(name, 4, "latin1");
  bytes.set(content, 8);
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + content.length)), 8 + content.length);
  return bytes;
}
