import type { AnswerImage } from "../domain/elements/resolved-element.ts";
import type { ImageFile, ReadImages, Ticket } from "./printed-ticket.ts";

/** Tickets that are read ahead, whose pictures are requested together. */
const mostKnown = 64;
const mostAsked = 32;

/** Backpressure: with this many letters in waiting tickets, no more tickets are read. */
const mostLetters = 1_000_000;

/** Backpressure: with this many bytes in waiting pictures, no more are read. */
const mostHeld = 8 * 1024 * 1024;

interface Pictured {
  readonly tickets: Iterable<Ticket> | AsyncIterable<Ticket>;
  readonly readImages: ReadImages;
}

/** Reads one picture; undefined: there is no such picture. */
export type ReadImage = (image: AnswerImage) => Promise<ImageFile | undefined>;

/** Prefetches the first pictures of the next tickets, many per request: one by one they would outlast the print. */
export function readPicturesAhead({ tickets, readImages }: Pictured): {
  readonly tickets: AsyncGenerator<Ticket>;
  readonly readImage: ReadImage;
} {
  const wanted = new Map<string, AnswerImage>();
  const held = new Map<string, ImageFile | undefined>();
  let heldBytes = 0;
  let asked: { readonly keys: ReadonlySet<string>; readonly done: Promise<void> } | undefined;

  /** The first picture of a ticket; its budget decides how many more follow. */
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
    // A failed prefetch is repeated when the ticket is drawn, and fails there.
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
