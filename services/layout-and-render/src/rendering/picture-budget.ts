import { countPixels } from "@tessera/sent-files/check-image";
import type { ImageFile } from "./printed-ticket.ts";

/** The cost of pictures: their bytes on the way to the browser, and their decoded pixels there. */
interface Cost {
  readonly bytes: number;
  readonly pixels: number;
}

/** A chunk ends when its pictures cost this much. */
const mostOfChunk: Cost = { bytes: 8 * 1024 * 1024, pixels: 60_000_000 };

/** A ticket prints no more than this. */
const mostOfTicket: Cost = { bytes: 40 * 1024 * 1024, pixels: 150_000_000 };

/** Limits the pictures that are printed at once. */
export class PictureBudget {
  readonly #known = new Set<string>();
  #chunk: Cost = { bytes: 0, pixels: 0 };
  #ticket: Cost = { bytes: 0, pixels: 0 };
  #isOverdrawn = false;

  beginTicket(): void {
    this.#ticket = { bytes: 0, pixels: 0 };
    this.#isOverdrawn = false;
  }

  /** Charges a picture in one size; false: the picture exceeds the budget of the ticket. */
  spend(name: string, { type, bytes }: ImageFile): boolean {
    if (this.#known.has(name)) return true;
    const cost = { bytes: bytes.length, pixels: countPixels(type, bytes) };
    const ticket = sum(this.#ticket, cost);
    if (exceeds(ticket, mostOfTicket)) {
      this.#isOverdrawn = true;
      return false;
    }
    this.#known.add(name);
    this.#ticket = ticket;
    this.#chunk = sum(this.#chunk, cost);
    return true;
  }

  /** Whether a picture of this ticket exceeded its budget. */
  get isOverdrawn(): boolean {
    return this.#isOverdrawn;
  }

  /** Whether the budget of the chunk is used up. */
  get isSpent(): boolean {
    return exceeds(this.#chunk, mostOfChunk);
  }
}

function sum(one: Cost, other: Cost): Cost {
  return { bytes: one.bytes + other.bytes, pixels: one.pixels + other.pixels };
}

function exceeds({ bytes, pixels }: Cost, most: Cost): boolean {
  return bytes >= most.bytes || pixels >= most.pixels;
}
