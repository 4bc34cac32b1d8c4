import { buffer } from "node:stream/consumers";
import type { FieldErrors } from "@tessera/kit/fault";
import type { Call } from "@tessera/kit/rpc";
import {
  PreviewFormat,
  type PreviewLayoutRequest,
  type PreviewLayoutResponse,
} from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { unknownId } from "@tessera/values";
import { resolveElements } from "../domain/elements/resolve-elements.ts";
import { makeSampleTicket } from "../domain/sample-ticket.ts";
import type { Ticket } from "../domain/ticket.ts";
import { readDraft } from "../drafts/read-draft.ts";
import { fault } from "../faults.ts";
import { mostAnswerBytes } from "../printing/answer-size.ts";
import { findScans } from "../printing/first-entries.ts";
import { describeFile, type PrintTools } from "../printing/printing.ts";
import { readNewestTickets, readTicketsOf } from "../printing/ticket-data.ts";
import type { PictureDrawer } from "../rendering/picture-drawer.ts";
import { renderTickets } from "../rendering/render-tickets.ts";

interface PreviewTools extends PrintTools {
  readonly pictures: PictureDrawer;
}

/** Renders one ticket with a layout that need not be stored. */
export async function previewLayout(
  request: PreviewLayoutRequest,
  tools: PreviewTools,
  { signal }: Call,
): Promise<PreviewLayoutResponse> {
  const { organizer, event, draft, position } = request;
  if (draft === undefined) throw new Error("a preview of no layout was wanted");
  const place = { organizer, event };
  const found = await findTicket(request, tools, signal);
  const errors: FieldErrors =
    found === undefined && position !== undefined
      ? { position: [unknownId(position, "ticket, or it was canceled")] }
      : {};
  const ticket = found ?? (await makeSample(request, tools, signal));
  const layout = await readDraft(draft, { place, ticket, errors }, tools);
  const scans =
    ticket.scans === null && layout.mayPrintScans
      ? await findScans(tools.firstEntries, { ...place, signal }, [ticket.position.id])
      : ticket.scans;
  const { elements, warnings } = resolveElements(
    layout.elements,
    { ...ticket, scans },
    {
      now: tools.clock.now(),
      formats: tools.formats,
    },
  );
  const file = describeFile(ticket, place, tools, { signal, onWarning: (warning) => warnings.push(warning) });
  const { name, background } = layout;
  const tickets = [{ elements, background, layout: name }];
  const pdf = await buffer(renderTickets({ ...file, tickets, count: 1, isSmall: true }, tools.renderer));
  const content =
    request.format === PreviewFormat.PNG
      ? await drawPicture({ pdf, layout: name }, request, { ...tools, signal })
      : pdf;
  if (content.length > mostAnswerBytes) {
    const message = "The file is larger than 15 MiB. Use fewer or smaller pictures, or fewer dots per inch.";
    throw fault("invalid_draft", message, { fields: { non_field_errors: [message] } });
  }
  return { content, warnings };
}

/** The requested ticket, or one of sample data; undefined: there is no such ticket. */
async function findTicket(
  request: PreviewLayoutRequest,
  tools: PreviewTools,
  signal: AbortSignal,
): Promise<Ticket | undefined> {
  const { organizer, event, position } = request;
  if (position === undefined) return makeSample(request, tools, signal);
  return (await readTicketsOf(tools.ticketData, { organizer, event, signal }, [position])).get(position);
}

async function makeSample(
  { organizer, event }: PreviewLayoutRequest,
  { ticketData, clock }: PreviewTools,
  signal: AbortSignal,
): Promise<Ticket> {
  const { data } = await readNewestTickets(ticketData, { organizer, event, signal }, 1);
  return makeSampleTicket(data, clock.now());
}

async function drawPicture(
  ticket: { readonly pdf: Uint8Array; readonly layout: string },
  { organizer, page, dpi }: PreviewLayoutRequest,
  { pictures, signal }: { readonly pictures: PictureDrawer; readonly signal: AbortSignal },
): Promise<Uint8Array> {
  const picture = await pictures.draw({ ...ticket, page, dpi }, { party: organizer, signal });
  switch (picture.kind) {
    case "picture":
      return picture.png;
    case "no such page":
      throw refused("page", `The ticket has ${picture.pages === 1 ? "one page" : `${picture.pages} pages`}.`);
    case "too large":
      throw refused(
        "dpi",
        `The picture would have ${(picture.pixels / 1e6).toFixed(1)} million pixels; at most ${pictures.mostPixels / 1e6} are drawn.`,
      );
  }
}

function refused(field: string, message: string) {
  return fault("invalid_draft", "Some fields are not valid.", { fields: { [field]: [message] } });
}
