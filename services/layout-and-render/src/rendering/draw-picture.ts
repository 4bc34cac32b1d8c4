import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { type PDFiumDocument, PDFiumLibrary } from "@hyzyla/pdfium";
import { answerRequests } from "@tessera/kit/threads/answer-requests";
import { encodePng } from "./encode-png.ts";
import { limitMemory } from "./limit-memory.ts";

/** A page of a file to be rasterized. */
export interface PictureRequest {
  readonly pdf: Uint8Array;
  readonly page: number;
  readonly dpi: number;
  readonly mostPixels: number;
}

/** The picture, or why the page cannot be drawn. */
export type Picture =
  | { readonly kind: "picture"; readonly png: Uint8Array; readonly pixels: number }
  | { readonly kind: "no such page"; readonly pages: number }
  | { readonly kind: "too large"; readonly pixels: number };

/** The code of a broken file, or of a page that needs too much memory. */
export type Undrawable = "undrawable";

/**
 * The largest picture needs 100 MB; the rest is for its contents: two kilobytes of a hostile file unpack to gigabytes.
 */
const mostMemory = 256 * 1024 * 1024;

const library = openLibrary();

async function openLibrary(): Promise<PDFiumLibrary> {
  const program = await readFile(fileURLToPath(import.meta.resolve("@hyzyla/pdfium/pdfium.wasm")));
  return PDFiumLibrary.init({ wasmBinary: limitMemory(program, { maxBytes: mostMemory }).buffer });
}

async function draw(request: PictureRequest): Promise<Picture> {
  const opened = await library;
  try {
    const document = await opened.loadDocument(request.pdf);
    const picture = await drawPage(document, request);
    document.destroy();
    return picture;
  } catch (cause) {
    // Ends the thread: the library is unusable afterwards.
    throw Object.assign(new Error("the page cannot be drawn", { cause }), { code: "undrawable" satisfies Undrawable });
  }
}

async function drawPage(document: PDFiumDocument, { page: number, dpi, mostPixels }: PictureRequest): Promise<Picture> {
  const pages = document.getPageCount();
  if (number > pages) return { kind: "no such page", pages };
  const page = document.getPage(number - 1);
  const { originalWidth, originalHeight } = page.getOriginalSize();
  const [width = 1, height = 1] = [originalWidth, originalHeight].map((points) =>
    Math.max(1, Math.round((points * dpi) / 72)),
  );
  const pixels = width * height;
  if (pixels > mostPixels) return { kind: "too large", pixels };
  const { data } = await page.render({ scale: 1, width, height, render: "bitmap", colorSpace: "BGRA" });
  return { kind: "picture", png: new Uint8Array(encodePng({ width, height, data }, { dpi })), pixels };
}

answerRequests<PictureRequest, Picture>({
  load: () => library,
  answer: draw,
  handOver: (picture) => (picture.kind === "picture" ? [picture.png.buffer as ArrayBuffer] : []),
});
