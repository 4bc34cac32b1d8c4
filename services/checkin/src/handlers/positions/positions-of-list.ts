import type { Fault } from "@tessera/kit/fault";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type {
  GetPositionRequest,
  GetPositionResponse,
  ListPositionsRequest,
  ListPositionsResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { isSelective } from "../../domain/search-text.ts";
import { fault } from "../../faults.ts";
import { everyPosition } from "../../store/position-filter.ts";
import { findTickets, type PositionDeps, readRequest, showTickets } from "./find-tickets.ts";

/** Pages through the tickets of a list, and searches them. */
export async function listPositions(
  request: ListPositionsRequest,
  { reads, ...deps }: PositionDeps,
): Promise<ListPositionsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    const { event, filter, scanned, unknown } = await readRequest(db, request, deps);
    if (unknown !== undefined) throw unknown;
    if (request.searchOnly && !isSelective(request.search)) {
      const { page } = cutPage(request, 0);
      return { positions: [], count: 0, page };
    }
    const { ordering, page, pageSize, cursor } = request;
    const { nextCursor, ...found } = await findTickets(db, filter, { ordering, page, pageSize, cursor, scanned });
    const shown = await showTickets(db, request, { tickets: found.tickets, event });
    const next = nextCursor === undefined ? {} : { next: { cursor: nextCursor ?? undefined } };
    return { ...shown, count: found.count, page: found.page, ...next };
  });
}

export async function getPosition(
  request: GetPositionRequest,
  { reads, ...deps }: PositionDeps,
): Promise<GetPositionResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    const { event, filter, scanned, unknown } = await readRequest(db, request, deps);
    const only = { ordering: ["positionid"], page: 1, pageSize: 1 };
    if (unknown !== undefined) {
      // A missing ticket is reported before an invalid filter.
      const { count } = await findTickets(db, { ...filter, ...everyPosition }, { ...only, scanned: undefined });
      throw count === 0 ? notFound() : unknown;
    }
    const { tickets } = await findTickets(db, filter, { ...only, scanned });
    if (tickets.length === 0) throw notFound();
    const { positions, documents } = await showTickets(db, request, { tickets, event });
    return { position: positions[0], documents };
  });
}

function notFound(): Fault {
  return fault("position_not_found", "The list has no such ticket.");
}
