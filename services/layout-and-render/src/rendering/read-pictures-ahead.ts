import type { AnswerImage } from "../domain/resolved-element.ts";
import type { ImageFile, ReadImage, Ticket } from "./ticket.ts";

/** So many pictures are on their way at a time, or wait for their ticket: each may be ten megabytes. */
const mostAhead = 8;

interface Pictured {
  readonly tickets: Iterable<Ticket> | AsyncIterable<Ticket>;
  readonly readImage: ReadImage;
}

/**
 * Reads the first pictures of the tickets that come next while one is drawn. Every picture is a question of its own
 * to another service: one after the other they would take longer than the print.
 */
export function readPicturesAhead<R extends Pictured>(
  request: R,
): Omit<R, keyof Pictured> & { readonly tickets: AsyncGenerator<Ticket>; readonly readImage: ReadImage } {
  const { tickets, readImage } = request;
  const ahead = new Map<string, Promise<ImageFile | undefined>>();

  /** The first picture of a ticket: how many more it may have, its budget decides. */
  function begin({ elements }: Ticket): void {
    const first = elements.find((element) => element.type === "imagearea" && element.image !== null);
    if (first?.type !== "imagearea" || first.image === null || ahead.size >= mostAhead) return;
    const key = keyOf(first.image);
    if (ahead.has(key)) return;
    const begun = readImage(first.image);
    // It is awaited when its ticket is drawn; until then its failure waits, too.
    begun.catch(() => undefined);
    ahead.set(key, begun);
  }

  async function* lookAhead(): AsyncGenerator<Ticket> {
    const next: Ticket[] = [];
    for await (const ticket of tickets) {
      begin(ticket);
      next.push(ticket);
      if (next.length < mostAhead) continue;
      const [first] = next.splice(0, 1);
      if (first !== undefined) yield first;
    }
    yield* next;
  }

  return {
    ...request,
    tickets: lookAhead(),
    readImage(image) {
      const key = keyOf(image);
      const begun = ahead.get(key);
      ahead.delete(key);
      return begun ?? readImage(image);
    },
  };
}

function keyOf({ position, question }: AnswerImage): string {
  return `${position}/${question}`;
}
