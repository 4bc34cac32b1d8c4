import { crc32 } from "node:zlib";
import type { Examined } from "./examined.ts";
import type { FileType } from "./file-type.ts";

const longestSide = 10_000;
const mostPixels = 50_000_000;

type ImageType = Exclude<FileType, "application/pdf">;

/** A sentence about an image; thrown inside this file only. */
class Unusable extends Error {}

/**
 * Checks that bytes are a complete image of a type, and not too large to be decoded. What follows its end is not taken: it
 * could be a file of another kind. Takes time in proportion to the bytes, whatever they are, and decodes no pixel.
 */
export function checkImage(type: ImageType, bytes: Uint8Array): Examined {
  try {
    const { end } = walk(type, bytes);
    return { ok: true, rewritten: end < bytes.length ? Uint8Array.from(bytes.subarray(0, end)) : undefined };
  } catch (error) {
    if (error instanceof Unusable) return { ok: false, objection: error.message };
    // The read went beyond the end.
    if (error instanceof RangeError) return { ok: false, objection: "The image is cut off. Send the whole file." };
    throw error;
  }
}

/** How many pixels an image has when it is decoded; 0: it cannot be. */
export function countPixels(type: ImageType, bytes: Uint8Array): number {
  try {
    return walk(type, bytes).pixels;
  } catch (error) {
    if (error instanceof Unusable || error instanceof RangeError) return 0;
    throw error;
  }
}

interface Walked {
  readonly pixels: number;
  /** Where the image ends. */
  readonly end: number;
}

function walk(type: ImageType, bytes: Uint8Array): Walked {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (type === "image/png") return walkPng(view);
  return type === "image/gif" ? walkGif(view) : walkJpeg(view);
}

const no = (kind: string) => new Unusable(`The file is not a valid ${kind} image.`);

/** Returns the number of pixels. */
function requireSize(kind: string, width: number, height: number): number {
  if (width === 0 || height === 0) throw no(kind);
  if (width > longestSide || height > longestSide || width * height > mostPixels) {
    throw new Unusable(
      `The image has ${width} x ${height} pixels. Send one of at most ${longestSide} x ${longestSide} and ${mostPixels / 1_000_000} million pixels.`,
    );
  }
  return width * height;
}

const pngSignature = Buffer.from("89504e470d0a1a0a", "hex");
const bitDepths: ReadonlyMap<number, readonly number[]> = new Map([
  [0, [1, 2, 4, 8, 16]],
  [2, [8, 16]],
  [3, [1, 2, 4, 8]],
  [4, [8, 16]],
  [6, [8, 16]],
]);

/** Chunks with a checksum each, from the header to the end mark. */
function walkPng(bytes: Buffer): Walked {
  if (!bytes.subarray(0, 8).equals(pngSignature)) throw no("PNG");
  let hasPixels = false;
  let pixels = 0;
  for (let at = 8; ; ) {
    const length = bytes.readUInt32BE(at);
    const name = bytes.toString("latin1", at + 4, at + 8);
    const end = at + 8 + length;
    const sum = bytes.readUInt32BE(end);
    if (crc32(bytes.subarray(at + 4, end)) !== sum) throw no("PNG");
    if ((at === 8) !== (name === "IHDR")) throw no("PNG");
    if (name === "IHDR") {
      if (length !== 13 || bitDepths.get(bytes.readUInt8(at + 17))?.includes(bytes.readUInt8(at + 16)) !== true)
        throw no("PNG");
      pixels = requireSize("PNG", bytes.readUInt32BE(at + 8), bytes.readUInt32BE(at + 12));
    }
    if (name === "IDAT") hasPixels = true;
    at = end + 4;
    if (name !== "IEND") continue;
    if (!hasPixels) throw no("PNG");
    return { pixels, end: at };
  }
}

/** Of a pixel of a GIF, which has 256 colours at most. */
const mostBits = 8;

/** Blocks up to the trailer. Frames have their own sizes, which may exceed that of the image. */
function walkGif(bytes: Buffer): Walked {
  if (!/^GIF8[79]a$/.test(bytes.toString("latin1", 0, 6))) throw no("GIF");
  const pixels = requireSize("GIF", bytes.readUInt16LE(6), bytes.readUInt16LE(8));
  let at = 13 + colours(bytes.readUInt8(10));
  let frames = 0;
  // Many files lack the trailer, and all viewers show them.
  while (frames === 0 || at !== bytes.length) {
    const block = bytes.readUInt8(at);
    if (block === 0x3b) {
      at += 1;
      break;
    }
    if (block === 0x21) at += 2;
    else if (block === 0x2c) {
      requireSize("GIF", bytes.readUInt16LE(at + 5), bytes.readUInt16LE(at + 7));
      at += 11 + colours(bytes.readUInt8(at + 9));
      // Readers show nothing where pixels are said to have more bits than colours have.
      if (bytes.readUInt8(at - 1) > mostBits) throw no("GIF");
      frames += 1;
    } else throw no("GIF");
    for (let length = bytes.readUInt8(at); ; length = bytes.readUInt8(at)) {
      at += 1 + length;
      if (length === 0) break;
    }
  }
  if (frames === 0) throw no("GIF");
  return { pixels, end: at };
}

/** The bytes of the table of colours that a packed field announces. */
function colours(packed: number): number {
  return packed & 0x80 ? 3 * 2 ** ((packed & 0x07) + 1) : 0;
}

/** Segments and scans, up to the end mark. */
function walkJpeg(bytes: Buffer): Walked {
  if (bytes.length < 4 || bytes.readUInt16BE(0) !== 0xffd8) throw no("JPEG");
  let frames = 0;
  let pixels = 0;
  for (let at = 2; ; ) {
    if (bytes.readUInt8(at) !== 0xff) throw no("JPEG");
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xff) {
      at += 1;
      continue;
    }
    // Marks without content: restarts, and one without meaning.
    if (marker === 0x01 || (marker >= 0xd0 && marker <= 0xd7)) {
      at += 2;
      continue;
    }
    const length = bytes.readUInt16BE(at + 2);
    if (marker === 0x00 || marker === 0xd8 || marker === 0xd9 || length < 2) throw no("JPEG");
    if (beginsFrame(marker)) {
      pixels = requireSize("JPEG", bytes.readUInt16BE(at + 7), bytes.readUInt16BE(at + 5));
      frames += 1;
    }
    at += 2 + length;
    if (marker === 0xda) {
      if (frames !== 1) throw no("JPEG");
      return { pixels, end: endOfScans(bytes, at) };
    }
  }
}

/** Segments that stand between scans: tables, restart intervals, numbers of lines, comments and what programs add. */
const betweenScans: ReadonlySet<number> = new Set([
  ...[0xc4, 0xcc, 0xda, 0xdb, 0xdc, 0xdd, 0xfe],
  ...Array.from({ length: 16 }, (_, index) => 0xe0 + index),
]);

/** Damaged scans are shown as far as they can be read, so marks that mean nothing here are passed over. */
function endOfScans(bytes: Buffer, from: number): number {
  for (let at = bytes.indexOf(0xff, from); at >= 0; at = bytes.indexOf(0xff, at)) {
    const marker = bytes.readUInt8(at + 1);
    if (marker === 0xd9) return at + 2;
    if (betweenScans.has(marker)) at += 2 + bytes.readUInt16BE(at + 2);
    else at += marker === 0xff ? 1 : 2;
  }
  throw new RangeError("no end");
}

/** C0 to CF begin frames, except for tables of Huffman codes, of arithmetic conditions, and one that is reserved. */
function beginsFrame(marker: number): boolean {
  return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}
