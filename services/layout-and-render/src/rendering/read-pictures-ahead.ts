import type { AnswerImage } from "../domain/elements/resolved-element.ts";
import type { ImageFile, ReadImages, Ticket } from "./printed-ticket.ts";

/** How many tickets are known before the first of them is drawn, and of how many one question asks. */
const mostKnown = 64;
const mostAsked = 32;

/** With so many letters of tickets that wait to be drawn, no more tickets are read. */
const mostLetters = 1_000_000;

/** With so many bytes of pictures that wait for their tickets, no more are read. */
const mostHeld = 8 * 1024 * 1024;

interface Pictured {
  readonly tickets: Iterable<Ticket> | AsyncIterable<Ticket>;
  readonly readImages: ReadImages;
}

/** Reads one picture; undefined: there is no such picture. */
export type ReadImage = (image: AnswerImage) => Promise<ImageFile | undefined>;

/**
 * Reads the first pictures of the tickets that come next while others are drawn, many with one question to another service:
 * one after the other they would take longer than the print.
 */
export function readPicturesAhead({ tickets, readImages }: Pictured): {
  readonly tickets: AsyncGenerator<Ticket>;
  readonly readImage: ReadImage;
} {
  const wanted = new Map<string, AnswerImage>();
  const held = new Map<string, ImageFile | undefined>();
  let heldBytes = 0;
  let asked: { readonly keys: ReadonlySet<string>; readonly done: Promise<void> } | undefined;

  /** The first picture of a ticket: how many more it may have, its budget decides. */
  function want({ elements }: Ticket): void {
    const first = elements.find((element) => element.type === "imagearea" && element.image !== null);
    if (first?.type !== "imagearea" || first.image === null) return;
    const key = keyOf(first.image);
    if (!held.has(key) && asked?.keys.has(key) !== true) wanted.set(key, first.image);
  }

  function askFor(fewest: number): void {
    if (asked !== undefined || wanted.size < fewest || heldBytes >= mostHeld) return;
    const images = [...wanted.values()].slice(0, mostAsked);
    const keys = images.map(keyOf);
    for (const key of keys) wanted.delete(key);
    const hold = (files: readonly (ImageFile | undefined)[]) => {
      for (const [index, file] of files.entries()) {
        held.set(keys[index] ?? "", file);
        heldBytes += file?.bytes.length ?? 0;
      }
    };
    // What failed is asked for again when its ticket is drawn, and fails there.
    const done = readImages(images)
      .then(hold, () => undefined)
      .finally(() => {
        asked = undefined;
      });
    asked = { keys: new Set(keys), done };
  }

  async function* lookAhead(): AsyncGenerator<Ticket> {
    const known: Ticket[] = [];
    let letters = 0;
    for await (const ticket of tickets) {
      want(ticket);
      known.push(ticket);
      letters += countLetters(ticket);
      askFor(mostAsked);
      while (known.length >= mostKnown || letters >= mostLetters) {
        const [next] = known.splice(0, 1);
        if (next === undefined) break;
        letters -= countLetters(next);
        yield next;
      }
    }
    for (const ticket of known) {
      askFor(1);
      yield ticket;
    }
  }

  return {
    tickets: lookAhead(),
    async readImage(image) {
      const key = keyOf(image);
      if (asked?.keys.has(key) === true) await asked.done;
      wanted.delete(key);
      const file = held.get(key);
      if (!held.delete(key)) return (await readImages([image]))[0];
      heldBytes -= file?.bytes.length ?? 0;
      return file;
    },
  };
}

function countLetters({ elements }: Ticket): number {
  return elements.reduce((sum, element) => sum + ("value" in element ? element.value.length : 0), 0);
}

function keyOf({ position, question }: AnswerImage): string {
  return `${position}/${question}`;
}
