import type { Clock } from "@tessera/kit/clock";
import { Fault, isTransient } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { WorkFailed } from "@tessera/kit/jobs/work-on";
import type { Reads } from "@tessera/kit/pg/reads";
import type { Client } from "@tessera/kit/rpc";
import type { Part } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import type { AnswerFiles, FirstEntries, TicketData } from "@tessera/protos/services";
import { resolveElements } from "../domain/elements/resolve-elements.ts";
import type { AnswerImage } from "../domain/elements/resolved-element.ts";
import type { Formats } from "../domain/formats/formats.ts";
import { type PrintedLayout, selectLayout } from "../domain/selection/select-layout.ts";
import type { Ticket } from "../domain/ticket.ts";
import { LayoutReader } from "../drafts/layout-reader.ts";
import { fault } from "../faults.ts";
import type { ImageFile, RenderWarning, Ticket as ResolvedTicket } from "../rendering/printed-ticket.ts";
import { type RenderRequest, type RenderTools, renderTickets, type TicketRange } from "../rendering/render-tickets.ts";
import type { EventKey } from "../store/keys.ts";
import { readLayoutChoice } from "../store/layouts-to-print.ts";
import { PatientScans } from "./first-entries.ts";
import { readTicketsOf } from "./ticket-data.ts";

/** The dependencies of printing. */
export interface PrintTools {
  readonly reads: Reads;
  readonly files: Files;
  readonly clock: Clock;
  readonly ticketData: Client<TicketData>;
  readonly answerFiles: Client<AnswerFiles>;
  readonly firstEntries: Client<FirstEntries>;
  readonly renderer: RenderTools;
  readonly formats: Formats;
  /** The address of the site, which codes contain as their issuer. */
  readonly issuer: string;
}

/** Tickets of one file, in order. */
export interface PrintOrder extends EventKey {
  readonly parts: readonly Part[];
}

export interface PrintOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether the order is small, and does not wait for large ones. */
  readonly isSmall?: boolean;
  /** Reports how many parts have been handed to the browser. */
  readonly onPart?: (done: number) => void;
  readonly onWarning?: (warning: string) => void;
  /** Collects parts that cannot be printed and are left out. Parts that it has from the beginning are skipped. */
  readonly leftOut?: LeftOut | undefined;
}

export type LeftOut = Map<number, string>;

/** Thrown when parts turn out to be unprintable after they were drawn: the file must start over without them. */
export class PartsLeftOut extends Error {
  override readonly name = "PartsLeftOut";
}

/** The time limit of the search for the parts that print. */
const longestSearchMs = 120_000;

/** Tickets that are read ahead while as many are printed. */
const readAtOnce = 100;

/** Prints tickets into one PDF, as a stream. A part that cannot be printed fails the whole by name, or is left out. */
export async function* printTickets(
  order: PrintOrder,
  tools: PrintTools,
  { signal, isSmall = false, onPart, onWarning, leftOut }: PrintOptions = {},
): AsyncGenerator<Buffer> {
  const layouts = new LayoutReader(order, tools);
  const scans = new PatientScans(tools.firstEntries);
  const read = readParts(order, { ...tools, layouts, scans }, { signal, leftOut });
  const first = await read.next();
  if (first.done) throw nothingPrinted(leftOut);
  const [{ ticket }] = first.value;
  /** The parts in the file, in order. */
  const printed: ReadPart[] = [];
  const undrawn = new Map<unknown, TicketRange>();
  const shared = describeFile(ticket, order, tools, {
    signal,
    onWarning,
    numberOf: (index) => printed[index]?.number ?? 0,
  });
  const request: RenderRequest = {
    ...shared,
    tickets: resolveAll(),
    count: order.parts.length,
    isSmall,
    onUndrawn: (tickets, error) => undrawn.set(error, tickets),
  };
  try {
    yield* renderTickets(request, tools.renderer);
  } catch (error) {
    const together = undrawn.get(error);
    if (together !== undefined && signal?.aborted !== true && (isTooSlow(error) || !isTransient(error)))
      await nameUndrawn(printed.slice(together.first, together.last + 1), error);
    // A background evicted from the cache is read later than its part.
    if (error instanceof Fault && unprintable.has(error.code)) throw new WorkFailed(error.message, { cause: error });
    throw error;
  }
  if (printed.length === 0) throw nothingPrinted(leftOut);

  async function* resolveAll(): AsyncGenerator<ResolvedTicket> {
    for (let slice = first; !slice.done; slice = await read.next()) {
      for (const part of slice.value) {
        const resolved = await resolve(part);
        if (resolved !== undefined) {
          printed.push(part);
          yield resolved;
        }
        onPart?.(part.number);
      }
    }
  }

  async function resolve(part: ReadPart): Promise<ResolvedTicket | undefined> {
    const { ticket: one, layout, number } = part;
    try {
      const { name, elements, background } = await layouts.read(layout);
      const now = tools.clock.now();
      const resolved = resolveElements(elements, one, { now, formats: tools.formats });
      for (const warning of resolved.warnings) onWarning?.(`Part ${number}: ${warning}`);
      return { elements: resolved.elements, background, layout: name };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // A layout stays unprintable: a retry would fail, too.
      if (unprintable.has(error.code)) {
        const failed = failedPart(part, error.message, error);
        if (leftOut === undefined) throw failed;
        leftOut.set(number, failed.message);
        return undefined;
      }
      // A retry reads the new layout.
      if (error.code === "background_replaced") throw fault(error.code, `Part ${number}: ${error.message}`);
      throw error;
    }
  }

  /**
   * Tickets are drawn together, so a failing one is found by drawing each alone. After a timeout each try may time out
   * again: that is done only where other parts are to be printed, and for a limited time.
   */
  async function nameUndrawn(parts: readonly ReadPart[], error: unknown): Promise<void> {
    const alone: ReadPart[] = [];
    const until = performance.now() + (isTooSlow(error) ? longestSearchMs : Number.POSITIVE_INFINITY);
    if (parts.length > 1 && (!isTooSlow(error) || leftOut !== undefined))
      for (const part of parts) if (performance.now() > until || !(await isDrawn(part))) alone.push(part);
    const failing = alone.length > 0 ? alone : parts;
    const [only] = failing.length === 1 ? failing : [];
    const problem = isTooSlow(error) ? (error.cause as Error).message : "it cannot be drawn";
    if (leftOut === undefined) {
      if (isTooSlow(error) && only === undefined) throw new WorkFailed(error.message, { cause: error });
      throw failedPart(only ?? failing[0] ?? { number: 0, part: { position: 0 } }, problem, error);
    }
    for (const part of failing) leftOut.set(part.number, failedPart(part, problem).message);
    throw new PartsLeftOut("Some parts cannot be drawn.", { cause: error });
  }

  async function isDrawn({ part }: ReadPart): Promise<boolean> {
    try {
      for await (const _ of printTickets({ ...order, parts: [part] }, tools, { signal, isSmall }));
      return true;
    } catch (error) {
      if (error instanceof WorkFailed) return false;
      throw error;
    }
  }
}

function isTooSlow(error: unknown): error is Fault {
  return error instanceof Fault && error.code === "print_too_slow";
}

function nothingPrinted(leftOut: LeftOut | undefined): WorkFailed {
  const [why = "There is no part."] = leftOut?.values() ?? [];
  return new WorkFailed(`No part can be printed. ${why}`);
}

/** The fields of a request except the tickets, for a file that begins with this ticket. */
export function describeFile(
  { event, subevent, order, settings }: Ticket,
  place: EventKey,
  tools: Omit<PrintTools, "ticketData" | "firstEntries" | "reads">,
  {
    signal,
    onWarning,
    numberOf = (index) => index + 1,
  }: Pick<PrintOptions, "signal"> & {
    readonly onWarning?: PrintOptions["onWarning"] | undefined;
    /** The number of the part that is this ticket of the file. */
    readonly numberOf?: (index: number) => number;
  },
): Omit<RenderRequest, "tickets" | "count"> {
  const formats = tools.formats.of(order.locale, settings.region);
  return {
    title: formats.text((subevent ?? event).name),
    language: formats.locale.tag,
    issuer: tools.issuer,
    party: place.organizer,
    createdAt: new Date(tools.clock.now() / 1000),
    readImages: (images) => readImages(images, place, tools, signal),
    signal,
    onWarning: (warning) => onWarning?.(describe(warning, numberOf(warning.ticket))),
  };
}

interface ReadTools extends PrintTools {
  readonly layouts: LayoutReader;
  readonly scans: PatientScans;
}

interface ReadPart {
  readonly number: number;
  readonly part: Part;
  readonly ticket: Ticket;
  readonly layout: PrintedLayout | null;
}

/** Reads the data of parts, one slice ahead of its consumer. */
async function* readParts(
  order: PrintOrder,
  tools: ReadTools,
  options: Pick<PrintOptions, "signal" | "leftOut">,
): AsyncGenerator<readonly [ReadPart, ...ReadPart[]]> {
  const { parts } = order;
  const readAt = (at: number) => {
    const slice = at < parts.length ? readSlice(order, { at, ...options }, tools) : undefined;
    // A rejection before the slice is awaited must not count as unhandled.
    slice?.catch(() => undefined);
    return slice;
  };
  let next = readAt(0);
  for (let at = readAtOnce; next !== undefined; at += readAtOnce) {
    const [head, ...tail] = await next;
    next = readAt(at);
    if (head !== undefined) yield [head, ...tail];
  }
}

async function readSlice(
  { organizer, event, parts }: PrintOrder,
  { at, signal, leftOut }: Pick<PrintOptions, "signal" | "leftOut"> & { readonly at: number },
  { ticketData, scans: patientScans, reads, layouts: reader }: ReadTools,
): Promise<ReadPart[]> {
  const place = { organizer, event };
  const slice = parts
    .slice(at, at + readAtOnce)
    .map((part, index) => ({ part, number: at + index + 1 }))
    .filter(({ number }) => leftOut?.has(number) !== true);
  const ids = [...new Set(slice.map(({ part }) => part.position))];
  const tickets = await readTicketsOf(ticketData, { ...place, signal }, ids);
  const items = [...new Set([...tickets.values()].map(({ position }) => position.item.id))];
  const layouts = [...new Set(slice.flatMap(({ part }) => part.overrideLayout ?? []))];
  const choice = await reads.inTurn(organizer, (db) => readLayoutChoice(db, place, { items, layouts }));
  const fail = (failed: WorkFailed, number: number): [] => {
    if (leftOut === undefined) throw failed;
    leftOut.set(number, failed.message);
    return [];
  };
  const read = slice.flatMap(({ part, number }): ReadPart | [] => {
    const { position, overrideChannel, overrideLayout } = part;
    const ticket = tickets.get(position);
    if (ticket === undefined)
      return fail(failedPart({ number, part }, `the ticket ${position} does not exist any more`), number);
    if (overrideLayout !== undefined && !choice.layouts.has(overrideLayout))
      return fail(failedPart({ number, part }, `the layout ${overrideLayout} does not exist any more`), number);
    const salesChannel = overrideChannel ?? ticket.order.salesChannel;
    const printed = { item: ticket.position.item.id, salesChannel, layout: overrideLayout };
    return { number, part, ticket, layout: selectLayout(printed, choice) };
  });
  const scanned = read.filter(({ layout }) => reader.readElements(layout).mayPrintScans);
  if (scanned.length === 0) return read;
  const named = scanned.map(({ ticket }) => ticket.position.id);
  const scans = await patientScans.find({ ...place, signal }, named);
  return read.map((each) => ({ ...each, ticket: { ...each.ticket, scans } }));
}

/** Faults of a layout that remain until a client changes the layout. */
const unprintable: ReadonlySet<string> = new Set(["background_unusable", "background_lost"]);

function failedPart(
  { number, part }: { readonly number: number; readonly part: Pick<Part, "position"> },
  problem: string,
  cause?: unknown,
): WorkFailed {
  return new WorkFailed(`Part ${number} (position ${part.position}): ${problem}.`.replace(/\.\.$/, "."), { cause });
}

const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif"]);

const imageMs = 10_000;

/** Reads pictures of answers. A missing picture leaves its box gray. */
async function readImages(
  images: readonly AnswerImage[],
  { organizer, event }: EventKey,
  { answerFiles }: Pick<PrintTools, "answerFiles">,
  signal: AbortSignal | undefined,
): Promise<readonly (ImageFile | undefined)[]> {
  try {
    const { files } = await answerFiles.getAnswerFiles(
      { organizer, event, answers: [...images] },
      { timeoutMs: imageMs, signal },
    );
    return files.map(({ file }) =>
      file !== undefined && isImageType(file.contentType) ? { type: file.contentType, bytes: file.content } : undefined,
    );
  } catch (error) {
    if (error instanceof Fault && !isTransient(error) && images.length === 1) return [undefined];
    throw error;
  }
}

function isImageType(type: string): type is ImageFile["type"] {
  return imageTypes.has(type);
}

const warningTexts: Readonly<Record<RenderWarning["code"], string>> = {
  text_too_long: "its text does not fit",
  code_too_long: "no code of its kind can say its content",
  letters_missing: "no font has all its letters",
  image_unreadable: "its picture cannot be read",
  too_many_pictures: "the pictures of the ticket are too large together",
};

function describe({ element, code }: RenderWarning, number: number): string {
  return `Part ${number}: Element ${element + 1}: ${warningTexts[code]}`;
}
