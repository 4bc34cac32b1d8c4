import type { Clock } from "@tessera/kit/clock";
import { Fault, isTransient } from "@tessera/kit/fault";
import type { Files } from "@tessera/kit/files/files";
import { WorkFailed } from "@tessera/kit/jobs/work-on";
import type { Reads } from "@tessera/kit/pg/reads";
import type { Client } from "@tessera/kit/rpc";
import type { Part } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import type { AnswerFiles, FirstEntries, TicketData } from "@tessera/protos/services";
import { resolveElements } from "./domain/elements/resolve-elements.ts";
import type { AnswerImage } from "./domain/elements/resolved-element.ts";
import type { Formats } from "./domain/formats/formats.ts";
import { type PrintedLayout, selectLayout } from "./domain/selection/select-layout.ts";
import type { Ticket } from "./domain/ticket.ts";
import { fault } from "./faults.ts";
import { PatientScans } from "./first-entries.ts";
import { LayoutReader } from "./layout-reader.ts";
import { type RenderRequest, type RenderTools, renderTickets } from "./rendering/render-tickets.ts";
import type { ImageFile, RenderWarning, Ticket as ResolvedTicket } from "./rendering/ticket.ts";
import type { EventKey } from "./store/keys.ts";
import { readLayoutChoice } from "./store/layouts-to-print.ts";
import { readTicketsOf } from "./ticket-data.ts";

/** What tickets are printed with. */
export interface PrintTools {
  readonly reads: Reads;
  readonly files: Files;
  readonly clock: Clock;
  readonly ticketData: Client<TicketData>;
  readonly answerFiles: Client<AnswerFiles>;
  readonly firstEntries: Client<FirstEntries>;
  readonly renderer: RenderTools;
  readonly formats: Formats;
  /** The address of the site, for programs that read codes. */
  readonly issuer: string;
}

/** Tickets of one file, in order. */
export interface PrintOrder extends EventKey {
  readonly parts: readonly Part[];
}

export interface PrintOptions {
  readonly signal?: AbortSignal | undefined;
  /** Whether these are few tickets, which do not wait for many others. */
  readonly isSmall?: boolean;
  /** Is told how many parts have been handed to the browser. */
  readonly onPart?: (done: number) => void;
  readonly onWarning?: (warning: string) => void;
}

/** So many tickets are read while as many are printed. */
const readAtOnce = 100;

/** Prints tickets into one PDF, and gives it out piece by piece. A part that cannot be printed fails the whole, by name. */
export async function* printTickets(
  order: PrintOrder,
  tools: PrintTools,
  { signal, isSmall = false, onPart, onWarning }: PrintOptions = {},
): AsyncGenerator<Buffer> {
  const { parts } = order;
  const layouts = new LayoutReader(order, tools);
  const scans = new PatientScans(tools.firstEntries);
  const read = readParts(order, { ...tools, layouts, scans }, signal);
  const first = await read.next();
  if (first.done) return;
  const [{ ticket }] = first.value;
  const shared = describeFile(ticket, order, tools, { signal, onWarning });
  try {
    yield* renderTickets({ ...shared, tickets: resolveAll(), count: parts.length, isSmall }, tools.renderer);
  } catch (error) {
    // What takes so much longer than usual, does so again. A background that the cache has lost is read after its part.
    if (error instanceof Fault && (error.code === "print_too_slow" || unprintable.has(error.code)))
      throw new WorkFailed(error.message, { cause: error });
    throw error;
  }

  async function* resolveAll(): AsyncGenerator<ResolvedTicket> {
    let index = 0;
    for (let slice = first; !slice.done; slice = await read.next()) {
      for (const { ticket: one, layout } of slice.value) {
        index += 1;
        yield await resolve(one, layout, index);
        onPart?.(index);
      }
    }
  }

  async function resolve(one: Ticket, layout: PrintedLayout | null, number: number): Promise<ResolvedTicket> {
    try {
      const { name, elements, background } = await layouts.read(layout);
      const now = tools.clock.now();
      const resolved = resolveElements(elements, one, { now, formats: tools.formats });
      for (const warning of resolved.warnings) onWarning?.(`Part ${number}: ${warning}`);
      return { elements: resolved.elements, background, layout: name };
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      // What stands in the layout stays as it is: no further try prints it.
      if (unprintable.has(error.code)) throw failedPart(number, error.message, error);
      // The next try reads the layout again.
      if (error.code === "background_replaced") throw fault(error.code, `Part ${number}: ${error.message}`);
      throw error;
    }
  }
}

/** All of a request but the tickets, for a file that begins with this ticket. */
export function describeFile(
  { event, subevent, order, settings }: Ticket,
  place: EventKey,
  tools: Omit<PrintTools, "ticketData" | "firstEntries" | "reads">,
  { signal, onWarning }: Pick<PrintOptions, "signal"> & { readonly onWarning?: PrintOptions["onWarning"] | undefined },
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
    onWarning: (warning) => onWarning?.(describe(warning)),
  };
}

/** What parts are read with. */
interface ReadTools extends PrintTools {
  readonly layouts: LayoutReader;
  readonly scans: PatientScans;
}

interface ReadPart {
  readonly ticket: Ticket;
  readonly layout: PrintedLayout | null;
}

/** Reads what parts print, a slice ahead of what is asked for. */
async function* readParts(
  order: PrintOrder,
  tools: ReadTools,
  signal: AbortSignal | undefined,
): AsyncGenerator<readonly [ReadPart, ...ReadPart[]]> {
  const { parts } = order;
  const readAt = (at: number) => {
    const slice = at < parts.length ? readSlice(order, { at, signal }, tools) : undefined;
    // It is awaited when it is asked for; until then its failure waits, too.
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
  { at, signal }: { readonly at: number; readonly signal: AbortSignal | undefined },
  { ticketData, scans: patientScans, reads, layouts: reader }: ReadTools,
): Promise<ReadPart[]> {
  const place = { organizer, event };
  const slice = parts.slice(at, at + readAtOnce);
  const ids = [...new Set(slice.map(({ position }) => position))];
  const tickets = await readTicketsOf(ticketData, { ...place, signal }, ids);
  const items = [...new Set([...tickets.values()].map(({ position }) => position.item.id))];
  const layouts = [...new Set(slice.flatMap(({ overrideLayout }) => overrideLayout ?? []))];
  const choice = await reads.inTurn(organizer, (db) => readLayoutChoice(db, place, { items, layouts }));
  const read = slice.map(({ position, overrideChannel, overrideLayout }, index): ReadPart => {
    const ticket = tickets.get(position);
    const number = at + index + 1;
    if (ticket === undefined) throw failedPart(number, `the ticket ${position} does not exist any more`);
    if (overrideLayout !== undefined && !choice.layouts.has(overrideLayout))
      throw failedPart(number, `the layout ${overrideLayout} does not exist any more`);
    const salesChannel = overrideChannel ?? ticket.order.salesChannel;
    const printed = { item: ticket.position.item.id, salesChannel, layout: overrideLayout };
    return { ticket, layout: selectLayout(printed, choice) };
  });
  const scanned = read.filter(({ layout }) => reader.readElements(layout).mayPrintScans);
  if (scanned.length === 0) return read;
  const named = scanned.map(({ ticket }) => ticket.position.id);
  const scans = await patientScans.find({ ...place, signal }, named);
  return read.map(({ ticket, layout }) => ({ ticket: { ...ticket, scans }, layout }));
}

/** What is wrong with a layout until somebody changes it. */
const unprintable: ReadonlySet<string> = new Set(["background_unusable", "background_lost"]);

function failedPart(number: number, problem: string, cause?: unknown): WorkFailed {
  return new WorkFailed(`Part ${number}: ${problem}.`.replace(/\.\.$/, "."), { cause });
}

const imageTypes: ReadonlySet<string> = new Set(["image/png", "image/jpeg", "image/gif"]);

const imageMs = 10_000;

/** Reads pictures of answers. One that is gone, or cannot be had at any time, leaves its box gray. */
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

function describe({ ticket, element, code }: RenderWarning): string {
  return `Part ${ticket + 1}: Element ${element + 1}: ${warningTexts[code]}`;
}
