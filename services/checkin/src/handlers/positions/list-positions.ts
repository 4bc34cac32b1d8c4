import type { Clock } from "@tessera/kit/clock";
import { cutPage } from "@tessera/kit/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type { ListPositionsRequest, ListPositionsResponse } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { isSelective } from "../../domain/search-text.ts";
import type { Readers } from "../../readers.ts";
import { requireEvent } from "../../store/events.ts";
import { requireList } from "../../store/lists.ts";
import type { PositionFilter } from "../../store/position-filter.ts";
import { choosePositions, findUnknownIds } from "./choose-positions.ts";
import { expandPositions } from "./expand-positions.ts";
import { findTickets, whereScanned } from "./find-tickets.ts";
import { presentTicket } from "./present-ticket.ts";

/** Pages through the tickets of a list, and searches them. */
export async function listPositions(
  request: ListPositionsRequest,
  { reads: db, clock, readers }: { readonly reads: Db; readonly clock: Clock; readonly readers: Readers },
): Promise<ListPositionsResponse> {
  const { organizer, event: slug, ignoreStatus, ordering, filters } = request;
  const event = await requireEvent(db, request);
  const list = await requireList(db, { organizer, event: slug, id: request.list });
  const unknown = await findUnknownIds(db, request, filters);
  if (unknown !== undefined) throw unknown;
  if (request.searchOnly && !isSelective(request.search)) {
    const { page } = cutPage(request, 0);
    return { positions: [], count: 0, page };
  }
  const scanned = whereScanned(list, filters, { clock, readers });
  const choice = choosePositions(request, { usableAt: scanned?.at });
  const filter: PositionFilter = { organizer, event: slug, list, ignoreStatus, id: undefined, ...choice };
  const { page, pageSize } = request;
  const found = await findTickets(db, filter, { ordering, page, pageSize, scanned });
  const positions = found.tickets.map((ticket) => presentTicket(ticket, { list: list.id, event }));
  const shown = await expandPositions(
    db,
    { organizer, event: slug, list: list.id },
    { expand: request.expand, positions },
  );
  return { ...shown, count: found.count, page: found.page };
}
