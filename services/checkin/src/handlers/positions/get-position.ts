import type { Clock } from "@tessera/kit/clock";
import type { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { GetPositionRequest, GetPositionResponse } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { fault } from "../../faults.ts";
import type { Readers } from "../../readers.ts";
import { requireEvent } from "../../store/events.ts";
import { requireList } from "../../store/lists.ts";
import { everyPosition, type PositionFilter } from "../../store/position-filter.ts";
import { choosePositions, findUnknownIds } from "./choose-positions.ts";
import { expandPositions } from "./expand-positions.ts";
import { findTickets, whereScanned } from "./find-tickets.ts";
import { presentTicket } from "./present-ticket.ts";

/** Shows one ticket of a list. */
export async function getPosition(
  request: GetPositionRequest,
  { reads: db, clock, readers }: { readonly reads: Db; readonly clock: Clock; readonly readers: Readers },
): Promise<GetPositionResponse> {
  const { organizer, event: slug, id, ignoreStatus, filters } = request;
  const event = await requireEvent(db, request);
  const list = await requireList(db, { organizer, event: slug, id: request.list });
  const scanned = whereScanned(list, filters, { clock, readers });
  const choice = choosePositions(request, { usableAt: scanned?.at });
  const filter: PositionFilter = { organizer, event: slug, list, ignoreStatus, id, ...choice };
  const only = { ordering: ["positionid"], page: 1, pageSize: 1 };
  const unknown = await findUnknownIds(db, request, filters);
  if (unknown !== undefined) {
    // A ticket that is not there counts before what is wrong with the question.
    const { count } = await findTickets(db, { ...filter, ...everyPosition }, { ...only, scanned: undefined });
    throw count === 0 ? notFound() : unknown;
  }
  const { tickets } = await findTickets(db, filter, { ...only, scanned });
  const [ticket] = tickets;
  if (ticket === undefined) throw notFound();
  const shown = await expandPositions(
    db,
    { organizer, event: slug, list: list.id },
    { expand: request.expand, positions: [presentTicket(ticket, { list: list.id, event })] },
  );
  return { position: shown.positions[0], documents: shown.documents };
}

function notFound(): Fault {
  return fault("position_not_found", "The list has no such ticket.");
}
