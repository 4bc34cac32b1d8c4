import { buffer } from "node:stream/consumers";
import { Fault } from "@tessera/kit/fault";
import { WorkFailed } from "@tessera/kit/jobs/work-on";
import type { Call } from "@tessera/kit/rpc";
import type { RenderTicketRequest, RenderTicketResponse } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { fault } from "../faults.ts";
import { mostAnswerBytes } from "../printing/answer-size.ts";
import { type PrintTools, printTickets } from "../printing/printing.ts";
import { readTicketsOf } from "../printing/ticket-data.ts";

/** Renders one ticket, if it may be downloaded now. */
export async function renderTicket(
  { organizer, event, position }: RenderTicketRequest,
  tools: PrintTools,
  { signal }: Call,
): Promise<RenderTicketResponse> {
  const place = { organizer, event };
  const ticket = (await readTicketsOf(tools.ticketData, { ...place, signal }, [position])).get(position);
  if (ticket === undefined) throw fault("ticket_not_found", "The event has no such ticket.");
  if (!ticket.outputs.includes("pdf"))
    throw fault("ticket_not_downloadable", "This ticket cannot be downloaded now: see `downloads` of it.");
  const part = { position, overrideChannel: undefined, overrideLayout: undefined };
  let warnings = 0;
  const options = {
    signal,
    isSmall: true,
    onWarning: () => {
      warnings += 1;
    },
  };
  try {
    const pdf = await buffer(printTickets({ ...place, parts: [part] }, tools, options));
    if (pdf.length > mostAnswerBytes) throw tooLarge();
    return { pdf, order: ticket.order.code, positionid: ticket.position.positionid, warnings };
  } catch (error) {
    if (!(error instanceof WorkFailed)) throw error;
    // Anything but a known failure is a bug.
    if (error.cause instanceof Error && !(error.cause instanceof Fault)) throw error.cause;
    throw fault("ticket_unprintable", error.message, { cause: error });
  }
}

function tooLarge() {
  return fault(
    "ticket_too_large",
    "The ticket has more than 15 MiB. Use fewer or smaller pictures or a smaller background in its layout, or render it with `ticketpdfrenderer/`.",
  );
}
