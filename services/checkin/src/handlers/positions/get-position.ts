import type { Fault } from "@tessera/kit/fault";
import type { GetPositionRequest, GetPositionResponse } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { fault } from "../../faults.ts";
import { everyPosition } from "../../store/position-filter.ts";
import { findTickets, type PositionDeps, readRequest, showTickets } from "./find-tickets.ts";

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
