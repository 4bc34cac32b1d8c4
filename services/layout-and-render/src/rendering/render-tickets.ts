import { Fault } from "@tessera/kit/fault";
import type { PrintQueue } from "../browser/print-queue.ts";
import type { EncodeSymbol } from "../domain/code-symbol.ts";
import type { ResolvedElement } from "../domain/elements/resolved-element.ts";
import { fault } from "../faults.ts";
import { PageAssembler } from "./assemble-pages.ts";
import { type BackgroundCache, builtIn } from "./background-cache.ts";
import { drawChunk, type ReadTicket, readMark, readStampMark } from "./draw-chunk.ts";
import { encodeCodes } from "./encode-codes.ts";
import type { FontCatalogue } from "./font-catalogue.ts";
import { PictureBudget } from "./picture-budget.ts";
import { mostPages, planChunks } from "./plan-chunks.ts";
import type { ImageFile, ReadImages, RenderWarning, Ticket } from "./printed-ticket.ts";
import { type ReadImage, readPicturesAhead } from "./read-pictures-ahead.ts";
import type { SlowLayouts } from "./slow-layouts.ts";
import { Stamps } from "./stamps.ts";
import { PdfWriter } from "./write-pdf.ts";

/** The dependencies of rendering, opened once per process. */
export interface RenderTools {
  readonly printer: PrintQueue;
  readonly fonts: FontCatalogue;
  readonly backgrounds: BackgroundCache;
  readonly slow: SlowLayouts;
}

export interface RenderRequest {
  readonly tickets: Iterable<Ticket> | AsyncIterable<Ticket>;
  /** The number of tickets, if known: a few are divided among all tabs. */
  readonly count?: number;
  /** The title of the file, and its language as a BCP 47 tag. */
  readonly title: string;
  readonly language: string;
  /** The address of the site, which codes contain as their issuer. */
  readonly issuer: string;
  /** The organizer: parties share printer and threads fairly. */
  readonly party: string;
  /** Whether the request is small, and does not wait for large ones. */
  readonly isSmall?: boolean;
  readonly createdAt: Date;
  readonly readImages: ReadImages;
  readonly signal?: AbortSignal | undefined;
  readonly onWarning?: (warning: RenderWarning) => void;
  /** Reports which tickets could not be drawn together, before the error is thrown. */
  readonly onUndrawn?: (tickets: TicketRange, error: unknown) => void;
  /** Whether warnings name all texts that do not fit their box, not only texts that shrink. */
  readonly checksFit?: boolean;
}

/** The indexes of the first and the last ticket. */
export interface TicketRange {
  readonly first: number;
  readonly last: number;
}

/** The limit of letters of a chunk: a layout may have pages full of them. */
const mostLetters = 400_000;

/** The limit of layouts of a text that shrinks. */
const mostShrinkings = 25;

/** A shorter text mostly fits, or shrinks at almost no cost. */
const fewLetters = 500;

/** Renders tickets into one PDF, in order, as a stream: only a few chunks of tickets are in memory at any time. */
export async function* renderTickets(request: RenderRequest, tools: RenderTools): AsyncGenerator<Buffer> {
  const { title, language, createdAt, issuer, party, isSmall, onWarning, checksFit } = request;
  const ended = new AbortController();
  const signal = request.signal === undefined ? ended.signal : AbortSignal.any([request.signal, ended.signal]);
  const writer = new PdfWriter({ title, language, createdAt });
  const assembler = new PageAssembler(writer, { issuer });
  const stamps = new Stamps();
  const tooLong = new Set<number>();
  const underWay: { readonly tickets: readonly ReadTicket[]; readonly printed: ReturnType<typeof print> }[] = [];

  async function named<T>(tickets: readonly ReadTicket[], draw: () => Promise<T>): Promise<T> {
    try {
      return await draw();
    } catch (caught) {
      const error = isTooSlow(caught) ? tooSlow(tickets, caught) : caught;
      request.onUndrawn?.(rangeOf(tickets), error);
      throw error;
    }
  }

  async function print(tickets: readonly ReadTicket[], encode: EncodeSymbol) {
    const chunk = drawChunk(tickets, tools.fonts, { encode, stamps, checksFit });
    for (const warning of chunk.warnings) onWarning?.(warning);
    if (chunk.job === undefined) return [chunk, undefined] as const;
    const layouts = [...new Set(tickets.flatMap(({ ticket }) => ticket.layout ?? []))];
    if (layouts.some((layout) => tools.slow.has(party, layout)))
      throw fault("print_too_slow", "A page took too long to be printed. Make its layout simpler.");
    const { pdf, misfits, brokenImages } = await tools.printer
      .print(chunk.job, { party, signal, isShort: isSmall })
      .catch((error: unknown) => {
        // With several layouts, the one to blame is unknown.
        const [only] = layouts.length === 1 ? layouts : [];
        if (isTooSlow(error) && only !== undefined) tools.slow.note(party, only);
        throw error;
      });
    for (const mark of misfits) {
      const stamp = readStampMark(mark);
      if (stamp === undefined) warnOfLength(mark);
      else tooLong.add(stamp);
    }
    for (const number of brokenImages) {
      const mark = chunk.imageMarks[number];
      if (mark !== undefined) onWarning?.({ ...readMark(mark), code: "image_unreadable" });
    }
    return [chunk, pdf] as const;
  }

  function warnOfLength(mark: string): void {
    onWarning?.({ ...readMark(mark), code: "text_too_long" });
  }

  /** Chunks are added in order: the stamps that they use have been printed by then. */
  async function add({ tickets, printed }: (typeof underWay)[number]): Promise<Buffer> {
    const [chunk, pdf] = await printed;
    for (const { stamp, mark } of chunk.measured) if (tooLong.has(stamp)) warnOfLength(mark);
    await named(tickets, () => assembler.add(chunk, pdf));
    return writer.take();
  }

  try {
    for await (const tickets of readChunks(request, tools)) {
      signal.throwIfAborted();
      // Awaited here, since chunks are drawn in order.
      const encode = await named(tickets, () => encodeCodes(codesOf(tickets)));
      const printed = named(tickets, () => print(tickets, encode));
      // Awaited below, in order; an earlier rejection must not count as unhandled.
      printed.catch(() => undefined);
      underWay.push({ tickets, printed });
      // One chunk more than tabs: it is ready when a tab becomes free.
      if (underWay.length <= tools.printer.tabs) continue;
      const next = underWay.shift();
      if (next !== undefined) yield await add(next);
    }
    for (const next of underWay) yield await add(next);
    yield writer.finish();
  } finally {
    // After a failure, or when the reader has left, the waiting chunks are aborted.
    ended.abort();
  }
}

/** All codes that are drawn. */
function* codesOf(tickets: readonly ReadTicket[]) {
  for (const { ticket } of tickets)
    for (const element of ticket.elements) if (element.type === "barcodearea" && element.value !== "") yield element;
}

function isTooSlow(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "print_too_slow";
}

function rangeOf(tickets: readonly ReadTicket[]): TicketRange {
  return { first: tickets[0]?.index ?? 0, last: tickets.at(-1)?.index ?? 0 };
}

/** Names the tickets of a chunk that timed out. */
function tooSlow(tickets: readonly ReadTicket[], cause: Fault): Fault {
  const { first, last } = rangeOf(tickets);
  const parts = first === last ? `Part ${first + 1}` : `Parts ${first + 1} to ${last + 1}`;
  return fault("print_too_slow", `${parts}: ${cause.message}`, { cause });
}

/** Reads the data of tickets, a chunk at a time. */
async function* readChunks(
  request: RenderRequest,
  { backgrounds, printer }: RenderTools,
): AsyncGenerator<readonly ReadTicket[]> {
  const { count = Number.POSITIVE_INFINITY, party, onWarning } = request;
  const { tickets, readImage } = readPicturesAhead(request);
  const sizes = planChunks(count, printer.tabs);
  let chunk: ReadTicket[] = [];
  let [pages, letters, index] = [0, 0, 0];
  let pictures = new PictureBudget();
  for await (const ticket of tickets) {
    const images = await readImages(ticket.elements, { readImage, pictures, tooMany });
    const background = await backgrounds.prepare(ticket.background ?? builtIn, party);
    chunk.push({ ticket, index, background, images });
    index += 1;
    pages += background.pages.length;
    for (const element of ticket.elements) letters += costOf(element);
    if (pages < (sizes[0] ?? mostPages) && !pictures.isSpent && letters < mostLetters) continue;
    yield chunk;
    sizes.shift();
    chunk = [];
    [pages, letters] = [0, 0];
    pictures = new PictureBudget();
  }
  if (chunk.length > 0) yield chunk;

  function tooMany(element: number): void {
    onWarning?.({ ticket: index, element, code: "too_many_pictures" });
  }
}

/** The cost in letters: a rare kind of code takes as long as many letters, and a shrinking text is laid out often. */
function costOf(element: ResolvedElement): number {
  if (element.type === "barcodearea" && element.symbology !== "qr") return mostLetters / 20;
  const layouts =
    element.type === "textcontainer" && element.isAutoresized && element.value.length > fewLetters ? mostShrinkings : 1;
  return "value" in element ? layouts * element.value.length : 0;
}

const none: ReadonlyMap<ResolvedElement, ImageFile> = new Map();

async function readImages(
  elements: readonly ResolvedElement[],
  {
    readImage,
    pictures,
    tooMany,
  }: {
    readonly readImage: ReadImage;
    readonly pictures: PictureBudget;
    readonly tooMany: (element: number) => void;
  },
): Promise<ReadonlyMap<ResolvedElement, ImageFile>> {
  if (!elements.some((element) => element.type === "imagearea")) return none;
  const images = new Map<ResolvedElement, ImageFile>();
  const files = new Map<string, ImageFile | undefined>();
  pictures.beginTicket();
  for (const [place, element] of elements.entries()) {
    if (element.type !== "imagearea" || element.image === null) continue;
    const id = `${element.image.position}/${element.image.question}`;
    if (!files.has(id)) files.set(id, pictures.isOverdrawn ? undefined : await readImage(element.image));
    const file = files.get(id);
    if (file !== undefined && pictures.spend(`${id}/${element.width}/${element.height}`, file))
      images.set(element, file);
    else if (pictures.isOverdrawn) tooMany(place);
  }
  return images;
}
