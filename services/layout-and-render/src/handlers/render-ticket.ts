import { buffer } from "node:stream/consumers";
import { WorkFailed } from "@tessera/kit/jobs/workers";
import type { Call } from "@tessera/kit/rpc";
import type { RenderTicketRequest, RenderTicketResponse } from "@tessera/protos/gen/ticketing/layout/v1/rendering";
import { fault } from "../faults.ts";
import { type PrintTools, printTickets } from "../printing.ts";
import { readTicketsOf } from "../ticket-data.ts";

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
  try {
    const pdf = await buffer(printTickets({ ...place, parts: [part] }, tools, { signal, isSmall: true }));
    return { pdf, order: ticket.order.code, positionid: ticket.position.positionid };
  } catch (error) {
    if (error instanceof WorkFailed) throw fault("ticket_unprintable", error.message, { cause: error });
    throw error;
  }
}
