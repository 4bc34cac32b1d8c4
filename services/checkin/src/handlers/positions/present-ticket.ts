import type { ListedPosition } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { EventInfo } from "../../store/events.ts";
import type { TicketRead } from "../../store/ticket-rows.ts";
import { withGivenAnswers } from "../../wire/answers.ts";
import { decodePosition, toListedPosition, toTicket } from "../../wire/position-messages.ts";

export function presentTicket(
  ticket: TicketRead,
  { list, event }: { readonly list: number; readonly event: EventInfo },
): ListedPosition {
  const position = withGivenAnswers(decodePosition(ticket.state), ticket.given);
  return toListedPosition({
    list,
    position,
    ticket: toTicket(position),
    parent: ticket.parentState === null ? undefined : decodePosition(ticket.parentState),
    item: ticket.item,
    downloads: event.downloads,
    checkins: ticket.checkins,
  });
}
