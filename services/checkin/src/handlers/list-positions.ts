import { cutPage } from "@tessera/kit/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type {
  ListedPosition,
  ListPositionsRequest,
  ListPositionsResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { isTelling, planSearch } from "../domain/search-text.ts";
import type { EventInfo } from "../store/events.ts";
import { countPositions, type PositionFilter, pagePositions } from "../store/listed-positions.ts";
import type { TicketRead } from "../store/ticket-rows.ts";
import { decodePosition, toListedPosition, toTicket } from "../wire.ts";
import { requireEvent, requireList } from "./find-or-fault.ts";

/** Pages through the tickets of a list, and searches them. */
export async function listPositions(db: Db, request: ListPositionsRequest): Promise<ListPositionsResponse> {
  const { organizer, event: slug } = request;
  const event = await requireEvent(db, request);
  const list = await requireList(db, { organizer, event: slug, id: request.list });
  const filter: PositionFilter = {
    organizer,
    event: slug,
    list,
    ignoreStatus: request.ignoreStatus,
    orderCode: request.order?.replaceAll("\0", "") || undefined,
    search: planSearch(request.search),
    id: undefined,
  };
  const mayList = !request.searchOnly || isTelling(request.search);
  const count = mayList ? await countPositions(db, filter) : 0;
  const { page, limit, offset } = cutPage(request, count);
  const tickets = count === 0 ? [] : await pagePositions(db, filter, { ordering: request.ordering, limit, offset });
  return { positions: tickets.map((ticket) => presentTicket(ticket, { list: list.id, event })), count, page };
}

/** Presents a ticket as its list sees it. */
export function presentTicket(
  ticket: TicketRead,
  { list, event }: { readonly list: number; readonly event: EventInfo },
): ListedPosition {
  const position = decodePosition(ticket.state);
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
