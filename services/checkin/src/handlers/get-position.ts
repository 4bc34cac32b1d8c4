import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type { GetPositionRequest, GetPositionResponse } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { findPosition } from "../store/listed-positions.ts";
import { requireEvent, requireList } from "./find-or-fault.ts";
import { presentTicket } from "./list-positions.ts";

/** Shows one ticket of a list; whoever may see the list's tickets need not search for it. */
export async function getPosition(db: Db, request: GetPositionRequest): Promise<GetPositionResponse> {
  const { organizer, event: slug, id } = request;
  const event = await requireEvent(db, request);
  const list = await requireList(db, { organizer, event: slug, id: request.list });
  const ticket = await findPosition(db, {
    organizer,
    event: slug,
    list,
    ignoreStatus: request.ignoreStatus,
    orderCode: undefined,
    search: { kind: "everything" },
    id,
  });
  if (ticket === undefined) throw new Fault("not_found", "position_not_found", "The list has no such ticket.");
  return { position: presentTicket(ticket, { list: list.id, event }) };
}
