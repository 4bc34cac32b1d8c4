import type { DrawnText } from "../domain/drawing/draw-text.ts";

/** A stamp costs the browser a page, and a text of many tickets comes again. */
const fewestUses = 3;

/** What is known of a file's stamps stays until its end. */
const mostStamps = 1000;

/** A size of pages, in points. */
interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** A text that pages of one size have in common. */
export interface Stamp extends PageSize {
  /** In the file, from 0. */
  readonly number: number;
  readonly text: DrawnText;
}

/** The texts of a chunk: those that occur often enough become stamps as soon as they are drawn. */
export interface ChunkStamps {
  /** The number of the stamp for a text of the chunk on such a page; undefined: it is drawn in its place. */
  numberOf(text: DrawnText, size: PageSize): number | undefined;
  /** Those that no chunk before has drawn. */
  readonly fresh: readonly Stamp[];
}

/**
 * The stamps of a file. Most texts of a ticket are those of many others: names of events and products, days, places, prices. The
 * browser draws such a text once, and all pages show that.
 */
export class Stamps {
  readonly #numbers = new Map<string, number>();

  forChunk(texts: Iterable<readonly [DrawnText, PageSize]>): ChunkStamps {
    const written = new Map<DrawnText, string>();
    const uses = new Map<string, number>();
    const lookOf = (text: DrawnText, { width, height }: PageSize) => `${width} ${height} ${written.get(text)}`;
    for (const [text, size] of texts) {
      if (text.value.trim() === "") continue;
      if (!written.has(text)) written.set(text, JSON.stringify(text));
      const look = lookOf(text, size);
      uses.set(look, (uses.get(look) ?? 0) + 1);
    }
    const fresh: Stamp[] = [];
    const numberOf = (text: DrawnText, size: PageSize): number | undefined => {
      if (!written.has(text)) return undefined;
      const look = lookOf(text, size);
      const known = this.#numbers.get(look);
      if (known !== undefined) return known;
      const number = this.#numbers.size;
      if ((uses.get(look) ?? 0) < fewestUses || number >= mostStamps) return undefined;
      this.#numbers.set(look, number);
      fresh.push({ number, text, width: size.width, height: size.height });
      return number;
    };
    return { numberOf, fresh };
  }
}
