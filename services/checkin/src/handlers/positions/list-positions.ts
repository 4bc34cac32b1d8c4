import { cutPage } from "@tessera/kit/cut-page";
import type {
  ListPositionsRequest,
  ListPositionsResponse,
  Neighbor as NeighborOnWire,
} from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { isSelective } from "../../domain/search-text.ts";
import type { PositionFilter } from "../../store/position-filter.ts";
import type { Cursors } from "./cursors.ts";
import type { Neighbor } from "./find-page.ts";
import { findTickets, type PositionDeps, readRequest, showTickets } from "./find-tickets.ts";

/** Pages through the tickets of a list, and searches them. */
export async function listPositions(
  request: ListPositionsRequest,
  { reads, cursors, ...deps }: PositionDeps & { readonly cursors: Cursors },
): Promise<ListPositionsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    const { event, filter, scanned, unknown } = await readRequest(db, request, deps);
    if (unknown !== undefined) throw unknown;
    if (request.searchOnly && !isSelective(request.search)) {
      const { page } = cutPage(request, 0);
      return { positions: [], count: 0, page };
    }
    const { ordering, page, pageSize, cursor } = request;
    const beside =
      cursor === undefined || scanned !== undefined ? undefined : await cursors.open(cursor, useOf(request, filter));
    const sought = { ordering, page, pageSize, beside };
    const found = await findTickets(db, filter, { ...sought, scanned, ladders: deps.ladders });
    const shown = await showTickets(db, request, { tickets: found.tickets, event });
    const sealed = async (to: number, neighbor: Neighbor | undefined): Promise<NeighborOnWire | undefined> =>
      neighbor && {
        cursor: neighbor.beside && (await cursors.seal(neighbor.beside, useOf({ ...request, page: to }, filter))),
      };
    const neighbors = found.neighbors && {
      next: await sealed(found.page + 1, found.neighbors.next),
      previous: await sealed(found.page - 1, found.neighbors.previous),
    };
    return { ...shown, count: found.count, page: found.page, neighbors };
  });
}

/** What a cursor is for: this page of this request. The number grows when places change their form. */
function useOf({ ordering, page, pageSize }: ListPositionsRequest, { list, ...filter }: PositionFilter): string {
  return JSON.stringify([1, list.id, filter, ordering, page, pageSize]);
}
