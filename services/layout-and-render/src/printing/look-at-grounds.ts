import { buffer } from "node:stream/consumers";
import { Fault } from "@tessera/kit/fault";
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
      for (const code of here) {
        const ground = groundIn(picture.png, code);
        if (ground !== undefined) grounds.set(code, ground);
      }
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
    }
  }
  return grounds;
}

/** The darkest luminance of the area of a code, but for a few dots. */
function groundIn(png: Uint8Array, { left, bottom, size }: BarcodeArea): number | undefined {
  const { width, height, colorAt } = decodePng(png);
  const toDots = (millimetres: number) => Math.round((millimetres * dpi) / millimetresPerInch);
  const [from, to] = [Math.max(0, toDots(left)), Math.min(width, toDots(left + size))];
  const [top, low] = [Math.max(0, height - toDots(bottom + size)), Math.min(height, height - toDots(bottom))];
  const seen: number[] = [];
  for (let row = top; row < low; row += 1)
    for (let column = from; column < to; column += 1) seen.push(luminanceOf(colorAt(column, row)));
  return seen.sort((one, other) => one - other)[Math.floor(seen.length * spoiled)];
}
