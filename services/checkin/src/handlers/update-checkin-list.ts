import { Fault } from "@tessera/kit/fault";
import type { Db } from "@tessera/kit/pg/database";
import type {
  UpdateCheckinListRequest,
  UpdateCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { checkListFields } from "../domain/check-list.ts";
import type { CheckinEvents } from "../events.ts";
import { lockList, putList } from "../store/lists.ts";
import { fromListFields, listFieldNames, takeOverFields } from "../wire.ts";
import { checkAgainstEvent, refuseInvalid } from "./create-checkin-list.ts";
import { listNotFound, requireEvent } from "./find-or-fault.ts";
import { withCounts } from "./get-checkin-list.ts";

/** Changes the named fields of a list. What is not named is neither changed nor checked. */
export async function updateCheckinList(
  { db, events }: { readonly db: Db; readonly events: CheckinEvents },
  request: UpdateCheckinListRequest,
): Promise<UpdateCheckinListResponse> {
  if (request.fields === undefined) throw new Error("a list was to be changed to nothing");
  const sent = fromListFields(request.fields);
  const mask = new Set(request.updateMask);
  const unknown = request.updateMask.filter((name) => !listFieldNames.has(name));
  if (unknown.length > 0) {
    throw new Fault("invalid", "invalid_mask", `A check-in list has no field ${unknown.join(", ")}.`);
  }
  const list = await db.transaction(async (tx) => {
    const event = await requireEvent(tx, request);
    const held = await lockList(tx, request);
    if (held === undefined) throw listNotFound();
    const changed = takeOverFields(held, sent, mask);
    const wrong = {
      ...checkListFields(changed),
      ...(await checkAgainstEvent(tx, request, {
        event,
        fields: {
          limitProducts: mask.has("limit_products") ? changed.limitProducts : [],
          subevent: mask.has("subevent") ? changed.subevent : null,
        },
      })),
    };
    refuseInvalid(wrong);
    await putList(tx, request, changed);
    return changed;
  });
  events.listChanged({ organizer: request.organizer, event: request.event, list: list.id });
  return { list: await withCounts(db, request, list) };
}
