import type { DrawnText } from "../domain/drawing/draw-text.ts";

/** A stamp costs the browser a page; a text that repeats this often is likely to repeat again. */
const fewestUses = 3;

/** Stamps stay in memory until the file ends. */
const mostStamps = 1000;

/** A size of pages, in points. */
interface PageSize {
  readonly width: number;
  readonly height: number;
}

/** A text that pages of one size share. */
export interface Stamp extends PageSize {
  /** In the file, from 0. */
  readonly number: number;
  readonly text: DrawnText;
}

/** The texts of a chunk: a text that occurs often enough becomes a stamp. */
export interface ChunkStamps {
  /** The stamp of a text on pages of this size; undefined: the text is drawn in place. */
  numberOf(text: DrawnText, size: PageSize): number | undefined;
  /** Stamps that no earlier chunk has drawn. */
  readonly fresh: readonly Stamp[];
}

/**
 * The stamps of a file. Most texts repeat on many tickets: names of events and products, days, places, prices. The
 * browser draws such a text once, and all pages refer to it.
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
