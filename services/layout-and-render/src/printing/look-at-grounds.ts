import { buffer } from "node:stream/consumers";
import { Fault } from "@tessera/kit/fault";
import { inSlices } from "@tessera/kit/waiting/in-slices";
import type { BarcodeArea, LayoutElement } from "../domain/elements/element.ts";
import { luminanceOf } from "../domain/lint/contrast.ts";
import type { ReadLayout } from "../drafts/layout-reader.ts";
import { decodePng } from "../rendering/decode-png.ts";
import type { PictureDrawer } from "../rendering/picture-drawer.ts";
import { type RenderRequest, type RenderTools, renderTickets } from "../rendering/render-tickets.ts";

/** A dot is smaller than a module that can be read. */
const dpi = 72;
const millimetresPerInch = 25.4;

/** Of pages with codes, of which a layout has one. */
const mostPages = 5;

/** The share of a code's area that may be darker: scanners correct a few errors. */
const spoiled = 0.05;

interface Looking {
  readonly file: Omit<RenderRequest, "tickets" | "count">;
  readonly layout: ReadLayout;
  readonly organizer: string;
  readonly signal: AbortSignal;
}

/**
 * Finds the luminance of the ground of each code: of the background as it is drawn, without other elements. A code whose ground
 * cannot be drawn has none.
 */
export async function lookAtGrounds(
  { file, layout: { name, elements, background }, organizer, signal }: Looking,
  { renderer, pictures }: { readonly renderer: RenderTools; readonly pictures: PictureDrawer },
): Promise<ReadonlyMap<LayoutElement, number>> {
  const codes = Map.groupBy(
    elements.filter((element) => element.type === "barcodearea"),
    ({ page }) => page,
  );
  if (codes.size === 0) return new Map();
  const tickets = [{ elements: [], background, layout: name }];
  const pdf = await buffer(renderTickets({ ...file, tickets, count: 1, isSmall: true }, renderer));
  const grounds = new Map<LayoutElement, number>();
  for (const [page, here] of [...codes].slice(0, mostPages)) {
    try {
      const picture = await pictures.draw({ pdf, page, dpi, layout: name }, { party: organizer, signal });
      if (picture.kind !== "picture") continue;
      const seen = await readLuminances(picture.png);
      await inSlices(here, (code) => {
        const ground = groundIn(seen, code);
        if (ground !== undefined) grounds.set(code, ground);
      });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  return grounds;
}

/** The luminance of each dot, row by row from the top. */
interface Luminances {
  readonly width: number;
  readonly height: number;
  readonly dots: Float64Array;
}

async function readLuminances(png: Uint8Array): Promise<Luminances> {
  const { width, height, colorAt } = decodePng(png);
  const dots = new Float64Array(width * height);
  await inSlices(Array(height).keys(), (row) => {
    for (let column = 0; column < width; column += 1) dots[row * width + column] = luminanceOf(colorAt(column, row));
  });
  return { width, height, dots };
}

/** The darkest luminance of the area of a code, but for a few dots. */
function groundIn({ width, height, dots }: Luminances, { left, bottom, size }: BarcodeArea): number | undefined {
  const toDots = (millimetres: number) => Math.round((millimetres * dpi) / millimetresPerInch);
  const [from, to] = [Math.max(0, toDots(left)), Math.min(width, toDots(left + size))];
  const [top, low] = [Math.max(0, height - toDots(bottom + size)), Math.min(height, height - toDots(bottom))];
  const [across, down] = [Math.max(0, to - from), Math.max(0, low - top)];
  const seen = new Float64Array(across * down);
  for (let row = 0; row < down; row += 1) {
    const start = (top + row) * width + from;
    seen.set(dots.subarray(start, start + across), row * across);
  }
  return seen.sort()[Math.floor(seen.length * spoiled)];
}
