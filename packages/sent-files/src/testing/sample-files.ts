import { crc32, deflateSync } from "node:zlib";
import type { FileType } from "../file-type.ts";

/** One chunk of a PNG. */
function chunk(name: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(name, "latin1"), content]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(content.length);
  sum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, sum]);
}

/** A PNG that says it is so large; what it holds are two grey pixels. */
export function aPng({ width = 2, height = 1 } = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  return Buffer.concat([
    Buffer.from("89504e470d0a1a0a", "hex"),
    chunk("IHDR", header),
    chunk("IDAT", deflateSync(Buffer.of(0, 10, 20))),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

/** A GIF with one frame; whole and frame say how large they are. */
export function aGif(size: { width?: number; height?: number; frameWidth?: number } = {}): Buffer {
  const { width = 1, height = 1, frameWidth = width } = size;
  const bytes = Buffer.from(
    "47494638396101000100800000000000ffffff21f90400000000002c00000000010001000002024401003b",
    "hex",
  );
  bytes.writeUInt16LE(width, 6);
  bytes.writeUInt16LE(height, 8);
  bytes.writeUInt16LE(frameWidth, 32);
  return bytes;
}

/** The parts of a JPEG that say what it is, and a scan of nothing. */
export function aJpeg({ width = 1, height = 1, before = Buffer.alloc(0) } = {}): Buffer {
  const frame = Buffer.from("ffc0000b080000000001011100", "hex");
  frame.writeUInt16BE(height, 5);
  frame.writeUInt16BE(width, 7);
  return Buffer.concat([
    Buffer.from("ffd8ffe000104a46494600010100000100010000", "hex"),
    before,
    frame,
    Buffer.from("ffda0008010100003f003fffd9", "hex"),
  ]);
}

export interface PdfParts {
  /** Entries of the catalog beside its pages. */
  readonly catalog?: string;
  /** Entries of the first page. */
  readonly page?: string;
  /** Further objects, whole. */
  readonly objects?: string;
  readonly trailer?: string;
  /** How many pages there are. */
  readonly pages?: number;
}

/** A PDF as one would write it by hand. */
export function aPdf({ catalog = "", page = "", objects = "", trailer = "", pages = 1 }: PdfParts = {}): Buffer {
  const numbers = Array.from({ length: pages }, (_, index) => 10 + index);
  return Buffer.from(
    [
      "%PDF-1.7",
      `1 0 obj << /Type /Catalog /Pages 2 0 R ${catalog} >> endobj`,
      `2 0 obj << /Type /Pages /Count ${pages} /Kids [${numbers.map((number) => `${number} 0 R`).join(" ")}] /MediaBox [0 0 595 842] >> endobj`,
      ...numbers.map(
        (number, index) => `${number} 0 obj << /Type /Page /Parent 2 0 R ${index === 0 ? page : ""} >> endobj`,
      ),
      objects,
      `trailer << /Root 1 0 R /Size ${10 + pages} ${trailer} >>`,
      "startxref",
      "0",
      "%%EOF",
      "",
    ].join("\n"),
    "latin1",
  );
}

/** A file of a type, with a text in it that its examination leaves there. */
export function fileWith(type: FileType, text: string): Buffer {
  const marked = Buffer.from(`[[${text}]]`);
  switch (type) {
    case "image/png": {
      const [image, end] = [aPng().subarray(0, -12), aPng().subarray(-12)];
      return Buffer.concat([image, chunk("tEXt", Buffer.concat([Buffer.from("Comment\0"), marked])), end]);
    }
    case "image/gif":
      return Buffer.concat([aGif().subarray(0, -1), Buffer.of(0x21, 0xfe, marked.length), marked, Buffer.of(0, 0x3b)]);
    case "image/jpeg":
      return aJpeg({ before: Buffer.concat([Buffer.of(0xff, 0xfe, 0, marked.length + 2), marked]) });
    case "application/pdf":
      return aPdf({
        catalog: "/Metadata 90 0 R",
        objects: `90 0 obj << /Length ${marked.length} >> stream\n${marked.toString("latin1")}\nendstream endobj`,
      });
  }
}

/** The text in such a file. */
export function textIn(bytes: Uint8Array): string {
  return /\[\[(.*)\]\]/s.exec(Buffer.from(bytes).toString())?.[1] ?? "";
}
