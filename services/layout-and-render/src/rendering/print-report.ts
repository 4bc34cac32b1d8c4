import type { PrintJob } from "../browser/print-job.ts";
import { pageSize } from "../domain/day-report/draw-day-report.ts";
import { fontChain } from "../domain/drawing/font-chain.ts";
import { pixels, pixelsPerMm } from "../domain/drawing/page-units.ts";
import type { FontCatalogue } from "./font-catalogue.ts";

/** Makes the job of pages that are drawn in millimetres. */
export function reportJob(
  drawn: readonly string[],
  fonts: FontCatalogue,
  { locale }: { readonly locale: string },
): PrintJob {
  const [width, height] = [pageSize.width, pageSize.height];
  const box = `width:${pixels(width * pixelsPerMm)};height:${pixels(height * pixelsPerMm)}`;
  const svg = `viewBox="0 0 ${width} ${height}" font-family="Open Sans" style="position:absolute;left:0;top:0;${box}"`;
  const text = drawn.join("");
  const chain = fontChain(text, locale);
  const faces = [false, true].flatMap((isBold) => [...fonts.facesFor(text, chain, { isBold, isItalic: false })]);
  return {
    html: drawn.map((page) => `<section style="${box}"><svg ${svg}>${page}</svg></section>`).join(""),
    pages: drawn.length,
    // Whole pixels, so that the browser does not round.
    width: Math.ceil((width * 96) / 25.4),
    height: Math.ceil((height * 96) / 25.4),
    fonts: [...new Set(faces)],
    images: [],
  };
}
