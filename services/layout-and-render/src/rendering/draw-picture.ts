import { PDFiumLibrary } from "@hyzyla/pdfium";
import { answerRequests } from "@tessera/kit/threads/answer-requests";
import { encodePng } from "./encode-png.ts";

/** A page of a file that becomes a picture. */
export interface PictureRequest {
  readonly pdf: Uint8Array;
  /** From 1. */
  readonly page: number;
  readonly dpi: number;
  readonly mostPixels: number;
}

/** The picture, or why it cannot be drawn. */
export type Picture =
  | { readonly kind: "picture"; readonly png: Uint8Array; readonly pixels: number }
  | { readonly kind: "no such page"; readonly pages: number }
  | { readonly kind: "too large"; readonly pixels: number };

const library = PDFiumLibrary.init();

async function draw({ pdf, page: number, dpi, mostPixels }: PictureRequest): Promise<Picture> {
  const document = await (await library).loadDocument(pdf);
  try {
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
  } finally {
    document.destroy();
  }
}

answerRequests<PictureRequest, Picture>({
  load: () => library,
  answer: draw,
  handOver: (picture) => (picture.kind === "picture" ? [picture.png.buffer as ArrayBuffer] : []),
});
