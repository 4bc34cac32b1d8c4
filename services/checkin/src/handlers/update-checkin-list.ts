import { answerOnce } from "@tessera/kit/pg/answer-once";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import type {
  UpdateCheckinListRequest,
  UpdateCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { CheckinLists } from "@tessera/protos/services";
import { checkListFields, joinErrors, type ListErrors } from "../domain/check-list.ts";
import type { ListFields } from "../domain/list.ts";
import { fault } from "../faults.ts";
import type { CheckinEvents } from "../report-events.ts";
import { type EventInfo, requireEvent } from "../store/events.ts";
import { noteListsChanged } from "../store/list-changes.ts";
import { listNotFound, lockList, putLists } from "../store/lists.ts";
import { fromListFields, listFields } from "../wire/list-messages.ts";
import { checkAgainstEvent, refuseInvalid } from "./create-checkin-list.ts";
import { withCounts } from "./get-checkin-list.ts";

/** Changes the named fields of a list. Other fields are neither changed nor checked. */
export async function updateCheckinList(
  request: UpdateCheckinListRequest,
  { db, events }: { readonly db: Db; readonly events: CheckinEvents },
): Promise<UpdateCheckinListResponse> {
  if (request.fields === undefined) throw new Error("a list was to be changed to nothing");
  const sent = fromListFields(request.fields);
  const mask = new Set(request.updateMask);
  const unknown = request.updateMask.filter((name) => !listFields.names.has(name));
  if (unknown.length > 0) {
    throw fault("invalid_mask", `A check-in list has no field ${unknown.join(", ")}.`);
  }
  const errorsOf = async (on: Queryable, event: EventInfo, list: ListFields): Promise<ListErrors> => {
    const againstEvent = await checkAgainstEvent(on, request, {
      event,
      fields: {
        limitProducts: mask.has("limit_products") ? list.limitProducts : [],
        subevent: mask.has("subevent") ? list.subevent : null,
      },
    });
    return joinErrors(againstEvent, checkListFields(mask.has("rules") ? list : { name: list.name }));
  };
  let changed: number | undefined;
  const response = await answerOnce(db, CheckinLists.updateCheckinList, async (tx) => {
    const event = await requireEvent(tx, request);
    const held = await lockList(tx, request);
    if (held === undefined) throw listNotFound();
    const list = listFields.apply(held, sent, mask);
    refuseInvalid(await errorsOf(tx, event, list));
    const exitSet = mask.has("exit_all_at") ? list.exitAllAt : held.exitSet;
    if (await putLists(tx, request, [{ ...list, exitSet }])) await noteListsChanged(tx, request);
    changed = list.id;
    return { list: await withCounts(tx, request, list) };
  });
  if (changed !== undefined) events.listChanged({ organizer: request.organizer, event: request.event, list: changed });
  return response;
}
