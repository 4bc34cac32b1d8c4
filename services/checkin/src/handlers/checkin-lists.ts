import { answerOnce } from "@tessera/events/answer-once";
import type { Fault } from "@tessera/kit/fault";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db, Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  CheckinList as CheckinListOnWire,
  CreateCheckinListRequest,
  CreateCheckinListResponse,
  DeleteCheckinListRequest,
  DeleteCheckinListResponse,
  GetCheckinListRequest,
  GetCheckinListResponse,
  ListCheckinListsRequest,
  ListCheckinListsResponse,
  UpdateCheckinListRequest,
  UpdateCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { Documents, Expand } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import { CheckinLists } from "@tessera/protos/services";
import { countNoted } from "../capacity/count-noted.ts";
import { checkListFields, checkListReferences, joinErrors, type ListErrors } from "../domain/check-list.ts";
import type { CheckinList, ListFields } from "../domain/list.ts";
import { fault } from "../faults.ts";
import type { CheckinEvents } from "../report-events.ts";
import { countOnLists } from "../store/counts.ts";
import { readDocuments } from "../store/documents.ts";
import { type EventInfo, requireEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import { findReferences } from "../store/known-ids.ts";
import { findListsChanged, noteListsChanged } from "../store/list-changes.ts";
import {
  countLists,
  type ListFilter,
  listNotFound,
  lockList,
  nextListId,
  pageLists,
  putLists,
  removeList,
  requireList,
} from "../store/lists.ts";
import { fromListFields, listFields, toCheckinList } from "../wire/list-messages.ts";
import { requireKnown } from "./unknown-ids.ts";

export async function getCheckinList(
  request: GetCheckinListRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetCheckinListResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    const list = await requireList(db, request);
    return { list: await withCounts(db, request, list), documents: await expandLists(db, request, [list]) };
  });
}

/** Reads the dates of lists, if the request expands them. */
async function expandLists(
  db: Queryable,
  { organizer, event, expand }: EventKey & { readonly expand?: Expand | undefined },
  lists: readonly CheckinList[],
): Promise<Documents | undefined> {
  if (expand?.subevent !== true) return undefined;
  const ids = lists.flatMap(({ subevent }) => subevent ?? []);
  return { subevents: await readDocuments(db, "subevent", { organizer, event, ids }), items: [], questions: [] };
}

async function withCounts(
  db: Queryable,
  { organizer, event }: EventKey,
  list: CheckinList,
): Promise<CheckinListOnWire> {
  const counts = await countOnLists(db, { organizer, event, lists: [list.id] });
  return toCheckinList(list, counts.get(list.id));
}

export async function listCheckinLists(
  request: ListCheckinListsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListCheckinListsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    const { organizer, event, subevent, subeventMatch, endsAfter } = request;
    await requireEvent(db, request);
    await requireKnown(db, request, { subevent });
    const changedAt = await findListsChanged(db, request);
    const { knownAsOf } = request;
    if (changedAt !== undefined && knownAsOf !== undefined && changedAt <= knownAsOf) {
      return { lists: [], count: 0, page: 0, changedAt, isUnchanged: true };
    }
    const filter: ListFilter = { organizer, event, subevent, subeventMatch, endsAfter };
    const count = await countLists(db, filter);
    const { page, limit, offset } = cutPage(request, count);
    const lists = await pageLists(db, filter, { ordering: request.ordering, limit, offset });
    const counts = request.withCounts
      ? await countOnLists(db, { organizer, event, lists: lists.map(({ id }) => id) })
      : new Map<number, never>();
    return {
      lists: lists.map((list) => toCheckinList(list, counts.get(list.id))),
      count,
      page,
      changedAt,
      isUnchanged: false,
      documents: await expandLists(db, request, lists),
    };
  });
}

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
  await untilCounted(db, fields);
  if (created !== undefined) events.listCreated({ organizer: request.organizer, event: request.event, list: created });
  return response;
}

/** A limit holds once those who are inside are counted. */
const countMs = 2000;

/** The change is stored already: if counting takes longer or fails, a job counts. */
async function untilCounted(
  db: Db,
  { softLimit, hardLimit }: Pick<ListFields, "softLimit" | "hardLimit">,
): Promise<void> {
  if (softLimit === null && hardLimit === null) return;
  await countNoted(db, { longestMs: countMs }).catch(() => false);
}

async function checkAgainstEvent(
  db: Queryable,
  { organizer, event: slug }: EventKey,
  {
    event,
    fields,
  }: {
    readonly event: EventInfo;
    readonly fields: Pick<ListFields, "limitProducts" | "subevent" | "takesFrom"> & { readonly id?: number };
  },
): Promise<ListErrors> {
  const { subevent, limitProducts, takesFrom } = fields;
  const named = { items: limitProducts, subevents: subevent === null ? [] : [subevent], lists: takesFrom };
  const known = await findReferences(db, { organizer, event: slug }, named);
  return checkListReferences(fields, { series: event.hasSubevents, ...known });
}

/** Throws if a list is invalid. Contradictions between fields are reported only if every field is valid by itself. */
function refuseInvalid({ non_field_errors: contradictions, ...fields }: ListErrors): void {
  if (Object.keys(fields).length > 0) throw invalidList(fields);
  if (contradictions !== undefined) throw invalidList({ non_field_errors: contradictions });
}

function invalidList(errors: ListErrors): Fault {
  return fault("invalid_checkin_list", `The check-in list is not valid: ${Object.keys(errors).join(", ")}.`, {
    fields: errors,
  });
}

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
        takesFrom: mask.has("takes_from") ? list.takesFrom : [],
        id: request.id,
      },
    });
    const { name, rules, softLimit, hardLimit } = list;
    const limits = mask.has("soft_limit") || mask.has("hard_limit") ? { softLimit, hardLimit } : {};
    return joinErrors(againstEvent, checkListFields({ name, ...limits, ...(mask.has("rules") ? { rules } : {}) }));
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
  if (mask.has("soft_limit") || mask.has("hard_limit")) await untilCounted(db, sent);
  if (changed !== undefined) events.listChanged({ organizer: request.organizer, event: request.event, list: changed });
  return response;
}

export async function deleteCheckinList(
  request: DeleteCheckinListRequest,
  { db, events }: { readonly db: Db; readonly events: CheckinEvents },
): Promise<DeleteCheckinListResponse> {
  let isDeleted = false;
  const response = await answerOnce(db, CheckinLists.deleteCheckinList, async (tx) => {
    await requireEvent(tx, request);
    if (!(await removeList(tx, request))) throw listNotFound();
    await noteListsChanged(tx, request);
    isDeleted = true;
    return {};
  });
  if (isDeleted) events.listDeleted({ organizer: request.organizer, event: request.event, list: request.id });
  return response;
}
