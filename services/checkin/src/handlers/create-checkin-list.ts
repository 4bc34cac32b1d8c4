import type { Fault } from "@tessera/kit/fault";
import { answerOnce } from "@tessera/kit/pg/answer-once";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import type {
  CreateCheckinListRequest,
  CreateCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { CheckinLists } from "@tessera/protos/services";
import { checkListFields, checkListReferences, joinErrors, type ListErrors } from "../domain/check-list.ts";
import type { ListFields } from "../domain/list.ts";
import { fault } from "../faults.ts";
import type { CheckinEvents } from "../report-events.ts";
import { type EventInfo, requireEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import { findReferences } from "../store/known-ids.ts";
import { noteListsChanged } from "../store/list-changes.ts";
import { nextListId, putLists } from "../store/lists.ts";
import { fromListFields } from "../wire/list-messages.ts";
import { withCounts } from "./get-checkin-list.ts";

/** Adds a list to an event. */
export async function createCheckinList(
  request: CreateCheckinListRequest,
  { db, events }: { readonly db: Db; readonly events: CheckinEvents },
): Promise<CreateCheckinListResponse> {
  if (request.fields === undefined) throw new Error("a list was to be created from nothing");
  const fields = fromListFields(request.fields);
  let created: number | undefined;
  const response = await answerOnce(db, CheckinLists.createCheckinList, async (tx) => {
    const event = await requireEvent(tx, request);
    refuseInvalid(joinErrors(await checkAgainstEvent(tx, request, { event, fields }), checkListFields(fields)));
    const list = { ...fields, id: await nextListId(tx), exitSet: fields.exitAllAt };
    await putLists(tx, request, [list]);
    await noteListsChanged(tx, request);
    created = list.id;
    return { list: await withCounts(tx, request, list) };
  });
  if (created !== undefined) events.listCreated({ organizer: request.organizer, event: request.event, list: created });
  return response;
}

/** Compares what a list refers to with what the event has. */
export async function checkAgainstEvent(
  db: Queryable,
  { organizer, event: slug }: EventKey,
  { event, fields }: { readonly event: EventInfo; readonly fields: Pick<ListFields, "limitProducts" | "subevent"> },
): Promise<ListErrors> {
  const { subevent, limitProducts } = fields;
  const named = { items: limitProducts, subevents: subevent === null ? [] : [subevent] };
  const known = await findReferences(db, { organizer, event: slug }, named);
  return checkListReferences(fields, { series: event.hasSubevents, ...known });
}

/** Throws what is wrong with a list. Contradictions between fields are reported only if every field is right by itself. */
export function refuseInvalid({ non_field_errors: contradictions, ...fields }: ListErrors): void {
  if (Object.keys(fields).length > 0) throw invalidList(fields);
  if (contradictions !== undefined) throw invalidList({ non_field_errors: contradictions });
}

function invalidList(errors: ListErrors): Fault {
  return fault("invalid_checkin_list", `The check-in list is not valid: ${Object.keys(errors).join(", ")}.`, {
    fields: errors,
  });
}
