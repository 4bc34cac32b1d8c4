import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { inflateSync } from "node:zlib";
import { createCanvas } from "@napi-rs/canvas";
import jsqr from "jsqr";
import { getDocument, type PDFDocumentProxy, VerbosityLevel } from "pdfjs-dist/legacy/build/pdf.mjs";
import { prepareZXingModule, readBarcodes } from "zxing-wasm/reader";

/** A piece of text as it stands on a page; lengths in millimetres from the lower left corner. */
export interface PdfText {
  readonly text: string;
  /** Where its baseline begins. */
  readonly x: number;
  readonly y: number;
  readonly width: number;
  /** Of its letters, in points. */
  readonly size: number;
  /** In degrees, clockwise. */
  readonly rotation: number;
}

export interface PdfPage {
  /** In points. */
  readonly width: number;
  readonly height: number;
  readonly texts: readonly PdfText[];
}

const mmPerPoint = 25.4 / 72;

/** Opens a PDF, uses it and closes it. */
async function withPdf<T>(bytes: Uint8Array, use: (document: PDFDocumentProxy) => Promise<T>): Promise<T> {
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: VerbosityLevel.ERRORS });
  try {
    return await use(await task.promise);
  } finally {
    await task.destroy();
  }
}

/** Reads the texts of all pages, as a reader that knows nothing of how they were made. */
export function readPdf(
  bytes: Uint8Array,
): Promise<{ readonly pages: readonly PdfPage[]; readonly title: string; readonly language: string | null }> {
  return withPdf(bytes, async (document) => {
    const pages: PdfPage[] = [];
    for (let number = 1; number <= document.numPages; number += 1) {
      const page = await document.getPage(number);
      const { width, height } = page.getViewport({ scale: 1 });
      const { items } = await page.getTextContent();
      const texts = items.flatMap((item) => {
        if (!("str" in item) || item.str.trim() === "") return [];
        const [a = 0, b = 0, , , e = 0, f = 0] = item.transform as number[];
        return {
          text: item.str,
          x: e * mmPerPoint,
          y: f * mmPerPoint,
          width: item.width * mmPerPoint,
          size: Math.hypot(a, b),
          rotation: (-Math.atan2(b, a) * 180) / Math.PI,
        };
      });
      pages.push({ width, height, texts });
    }
    const { info } = await document.getMetadata();
    const { Title: title = "", Language: language = null } = info as { Title?: string; Language?: string | null };
    return { pages, title, language };
  });
}

export interface PdfImage {
  readonly width: number;
  readonly height: number;
  /** Red, green, blue and opacity of each pixel, row by row from the top. */
  readonly pixels: Uint8ClampedArray;
  /** The colour at a place in millimetres from the lower left corner. */
  readonly colorAt: (x: number, y: number) => readonly number[];
}

/** What a reader would do with a file beside showing it. */
export function findActive(bytes: Uint8Array): Promise<string[]> {
  return withPdf(bytes, async (document) => {
    const { info } = await document.getMetadata();
    const found: readonly (readonly [string, unknown])[] = [
      ["scripts", await document.getJSActions()],
      ["an action on opening", await document.getOpenAction()],
      ["attachments", await document.getAttachments()],
      ["an XFA form", (info as { IsXFAPresent?: boolean }).IsXFAPresent],
    ];
    return found.flatMap(([what, is]) => (is === null || is === undefined || is === false ? [] : [what]));
  });
}

/** Draws a page as a picture on white. */
export function drawPdf(bytes: Uint8Array, { page: number = 1, dpi = 150 } = {}): Promise<PdfImage> {
  return withPdf(bytes, async (document) => {
    const page = await document.getPage(number);
    const viewport = page.getViewport({ scale: dpi / 72 });
    const canvas = createCanvas(Math.round(viewport.width), Math.round(viewport.height));
    // pdf.js has its own type for canvases, of browsers.
    await page.render({ canvas: canvas as never, viewport }).promise;
    const { width, height } = canvas;
    const pixels = canvas.getContext("2d").getImageData(0, 0, width, height).data;
    return {
      width,
      height,
      pixels,
      colorAt: (x, y) => {
        const [column, row] = [Math.floor((x / 25.4) * dpi), height - 1 - Math.floor((y / 25.4) * dpi)];
        return [...pixels.subarray((row * width + column) * 4, (row * width + column) * 4 + 3)];
      },
    };
  });
}

/** Reads the QR code of a page; undefined: no reader would find one. */
export async function readQrCode(bytes: Uint8Array, { page = 1, dpi = 150 } = {}): Promise<string | undefined> {
  const { pixels, width, height } = await drawPdf(bytes, { page, dpi });
  return jsqr.default(pixels, width, height)?.data;
}

/** Reads codes of all kinds in a picture. */
export async function readCodes({ pixels, width, height }: PdfImage): Promise<{ format: string; text: string }[]> {
  const wasmBinary = readFileSync(fileURLToPath(import.meta.resolve("zxing-wasm/reader/zxing_reader.wasm"))).buffer;
  prepareZXingModule({ overrides: { wasmBinary } });
  const picture = { data: new Uint8ClampedArray(pixels), width, height, colorSpace: "srgb" } as const;
  const found = await readBarcodes(picture, { tryHarder: true });
  return found.map(({ format, text }) => ({ format, text }));
}

/** The names of the fonts that a file has with it, without what marks them as parts. */
export function findFonts(bytes: Uint8Array): string[] {
  const names = Buffer.from(bytes)
    .toString("latin1")
    .matchAll(/\/FontName\s*\/(?:[A-Z]{6}\+)?([\w-]+)/g);
  return [...new Set(Array.from(names, ([, name = ""]) => name))].sort();
}

/** Texts that a file gives for glyphs that stand for several letters or for parts of one; the library above passes over them. */
export function readReplacementTexts(bytes: Uint8Array): string {
  const file = Buffer.from(bytes);
  const texts: string[] = [];
  for (let at = file.indexOf("stream\n"); at >= 0; at = file.indexOf("stream\n", at + 1)) {
    let content: string;
    try {
      content = inflateSync(file.subarray(at + 7)).toString("latin1");
    } catch {
      // Its end, or a stream that is not compressed.
      continue;
    }
    for (const [, hex = ""] of content.matchAll(/\/ActualText <feff([0-9a-f]+)>/gi))
      texts.push(Buffer.from(hex, "hex").swap16().toString("utf16le"));
  }
  return texts.join("");
}
