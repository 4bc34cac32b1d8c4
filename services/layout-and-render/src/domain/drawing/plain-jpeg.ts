/** A JPEG that a PDF can embed unchanged, with the same result as in the browser. */
export interface PlainJpeg {
  readonly bytes: Uint8Array;
  readonly width: number;
  readonly height: number;
  readonly channels: 1 | 3;
  /** The ICC profile; undefined: sRGB. */
  readonly profile: Uint8Array | undefined;
}

const header = 0xe0;
const profileOf = 0xe2;
const [huffman, quantization, restarts, scan, comment] = [0xc4, 0xdb, 0xdd, 0xda, 0xfe];
/** Baseline, extended and progressive. */
const frames = [0xc0, 0xc1, 0xc2];
/** The segments that a plain JPEG may have before its pixels. */
const plainSegments = new Set([header, profileOf, huffman, quantization, restarts, comment, ...frames]);

/**
 * Reads the JPEG fields that a PDF needs. Undefined: the browser must decode it, because EXIF may rotate it, its colour
 * space is another, or it is broken.
 */
export function readPlainJpeg(file: Uint8Array): PlainJpeg | undefined {
  const bytes = Buffer.from(file.buffer, file.byteOffset, file.byteLength);
  if (bytes.length < 24 || bytes.readUInt16BE(0) !== 0xffd8 || bytes.readUInt16BE(bytes.length - 2) !== 0xffd9)
    return undefined;
  const segments = readSegments(bytes);
  if (segments === undefined || !segments.every(({ marker }) => plainSegments.has(marker))) return undefined;
  const of = (...markers: number[]) => segments.filter(({ marker }) => markers.includes(marker));
  const [[first], [frame, ...more], profiles] = [of(header), of(...frames), of(profileOf)];
  const isComplete = of(huffman).length > 0 && of(quantization).length > 0;
  if (!isComplete || first?.content.toString("latin1", 0, 5) !== "JFIF\0") return undefined;
  if (frame === undefined || more.length > 0 || frame.content.length < 6) return undefined;
  const [precision, channels] = [frame.content.readUInt8(0), frame.content.readUInt8(5)];
  const [height, width] = [frame.content.readUInt16BE(1), frame.content.readUInt16BE(3)];
  if (precision !== 8 || (channels !== 1 && channels !== 3) || width === 0 || height === 0) return undefined;
  const [profile] = profiles.map(({ content }) => readProfile(content, channels));
  if (profiles.length > 1 || profiles.length !== (profile === undefined ? 0 : 1)) return undefined;
  return { bytes: file, width, height, channels, profile };
}

interface Segment {
  readonly marker: number;
  readonly content: Buffer;
}

/** The segments before the pixels; undefined: they are malformed. */
function readSegments(bytes: Buffer): Segment[] | undefined {
  const segments: Segment[] = [];
  for (let at = 2; at + 4 <= bytes.length; ) {
    const [prefix, marker, length] = [bytes.readUInt8(at), bytes.readUInt8(at + 1), bytes.readUInt16BE(at + 2)];
    if (prefix !== 0xff || length < 2) return undefined;
    if (marker === scan) return segments;
    segments.push({ marker, content: bytes.subarray(at + 4, at + 2 + length) });
    at += 2 + length;
  }
  return undefined;
}

const beforeProfile = "ICC_PROFILE\0\x01\x01";

/** An ICC profile in one segment, for colours with this number of channels. */
function readProfile(content: Buffer, channels: 1 | 3): Uint8Array | undefined {
  const profile = content.subarray(beforeProfile.length);
  const isWhole =
    content.toString("latin1", 0, beforeProfile.length) === beforeProfile &&
    profile.length >= 128 &&
    profile.readUInt32BE(0) === profile.length &&
    profile.toString("latin1", 36, 40) === "acsp" &&
    profile.toString("latin1", 16, 20) === (channels === 1 ? "GRAY" : "RGB ");
  return isWhole ? profile : undefined;
}
