import { answerOnce } from "@tessera/events/answer-once";
import { errorsByIndex } from "@tessera/kit/fault";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  GetAssignmentRequest,
  GetAssignmentResponse,
  ListAssignmentsRequest,
  ListAssignmentsResponse,
  SetAssignmentsRequest,
  SetAssignmentsResponse,
} from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { Layouts } from "@tessera/protos/services";
import { checkAssignments, compareAssignments, type Wanted } from "../domain/selection/check-assignments.ts";
import { fault } from "../faults.ts";
import type { LayoutEvents } from "../report-events.ts";
import {
  countAssignments,
  deleteAssignments,
  findAssignment,
  findOfItems,
  findOfLayouts,
  nextAssignmentIds,
  pageAssignments,
  putAssignments,
} from "../store/assigned-layouts.ts";
import { findSalesChannels, lockItems } from "../store/copies.ts";
import { lockEvent, requireEvent } from "../store/events.ts";
import type { EntityKey } from "../store/keys.ts";
import { requireLayout } from "../store/stored-layouts.ts";
import { toWireAssignment, toWireLayout } from "../wire/layout-messages.ts";

/** Finds one assignment of an event. */
export async function getAssignment(
  request: GetAssignmentRequest,
  { db }: { readonly db: Db },
): Promise<GetAssignmentResponse> {
  await requireEvent(db, request);
  const { organizer, event, id } = request;
  const found = await findAssignment(db, { organizer, event, id });
  if (found === undefined) throw fault("assignment_not_found", "The event has no such assignment of a layout.");
  return { assignment: toWireAssignment(found) };
}

/** Pages through what the layouts of an event are for. */
export async function listAssignments(
  request: ListAssignmentsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListAssignmentsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    const count = await countAssignments(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const found = await pageAssignments(db, request, { limit, offset });
    return { assignments: found.map(toWireAssignment), count, page };
  });
}

/** Replaces the assignments of a layout. Unchanged ones keep their ids. */
export async function setAssignments(
  request: SetAssignmentsRequest,
  { db, events }: { readonly db: Db; readonly events: LayoutEvents },
): Promise<SetAssignmentsResponse> {
  const { organizer, event, layout: id, assignments: wanted } = request;
  const place = { organizer, event };
  let isSet = false;
  const response = await answerOnce(db, Layouts.setAssignments, async (tx) => {
    await lockEvent(tx, place);
    const layout = await requireLayout(tx, { ...place, id });
    await refuseInvalid(tx, { ...place, id }, wanted);
    const { gone, fresh } = compareAssignments(await findOfLayouts(tx, place, [id]), wanted);
    await deleteAssignments(
      tx,
      place,
      gone.map((each) => each.id),
    );
    const ids = await nextAssignmentIds(tx, fresh.length);
    await putAssignments(
      tx,
      place,
      fresh.map(({ item, salesChannel }, index) => ({ id: ids[index] ?? 0, layout: id, item, salesChannel })),
    );
    isSet = true;
    return { layout: toWireLayout(layout, await findOfLayouts(tx, place, [id])) };
  });
  if (isSet) events.layoutAssigned(place, id);
  return response;
}

/** Throws the errors of assignments, under `<index>.<field>`. */
async function refuseInvalid(tx: Tx, { id, ...place }: EntityKey, wanted: readonly Wanted[]): Promise<void> {
  const items = wanted.map(({ item }) => item);
  const errors = checkAssignments(wanted, {
    items: await lockItems(tx, place, items),
    salesChannels: await findSalesChannels(
      tx,
      place,
      wanted.map(({ salesChannel }) => salesChannel),
    ),
    others: (await findOfItems(tx, place, items)).filter(({ layout }) => layout !== id),
  });
  const wrong = errors.filter((ofOne) => Object.keys(ofOne).length > 0).length;
  if (wrong > 0)
    throw fault("invalid_assignments", `${wrong} of ${errors.length} assignments are not valid.`, {
      fields: errorsByIndex(errors),
    });
}
