import { answerOnce, findAnswer } from "@tessera/events/answer-once";
import type { Files } from "@tessera/kit/files/files";
import { noteFilesToRemove } from "@tessera/kit/jobs/files-to-remove";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  CreateLayoutRequest,
  CreateLayoutResponse,
  DeleteLayoutRequest,
  DeleteLayoutResponse,
  GetLayoutRequest,
  GetLayoutResponse,
  LayoutFields,
  ListLayoutsRequest,
  ListLayoutsResponse,
  UpdateLayoutRequest,
  UpdateLayoutResponse,
} from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { Layouts } from "@tessera/protos/services";
import { lockRoom, orRemove, requireRoom } from "../backgrounds/background-room.ts";
import { copyBackground, keyOf } from "../backgrounds/backgrounds.ts";
import type { Background, Layout } from "../domain/selection/layout.ts";
import { fault } from "../faults.ts";
import type { LayoutEvents } from "../report-events.ts";
import { findOfLayouts } from "../store/assigned-layouts.ts";
import { lockEvent, requireEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import {
  countLayouts,
  deleteLayouts,
  findDefault,
  nextLayoutId,
  pageLayouts,
  promoteFirst,
  putLayouts,
  requireLayout,
} from "../store/stored-layouts.ts";
import { toWireLayout } from "../wire/layout-messages.ts";

export async function getLayout(request: GetLayoutRequest, { db }: { readonly db: Db }): Promise<GetLayoutResponse> {
  await requireEvent(db, request);
  const { organizer, event, id } = request;
  const layout = await requireLayout(db, { organizer, event, id });
  return { layout: toWireLayout(layout, await findOfLayouts(db, request, [id])) };
}

export async function listLayouts(
  request: ListLayoutsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListLayoutsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    const count = await countLayouts(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const found = await pageLayouts(db, request, { limit, offset });
    const assignments = await findOfLayouts(
      db,
      request,
      found.map(({ id }) => id),
    );
    return { layouts: found.map((layout) => toWireLayout(layout, assignments)), count, page };
  });
}

export async function createLayout(
  request: CreateLayoutRequest,
  { db, files, events }: { readonly db: Db; readonly files: Files; readonly events: LayoutEvents },
): Promise<CreateLayoutResponse> {
  const { organizer, event, fields } = request;
  if (fields === undefined) throw new Error("a layout was to be created from nothing");
  const place = { organizer, event };
  await requireEvent(db, place);
  // Before the background is copied: a repeated request must succeed although its upload has expired.
  const answered = await findAnswer(db, Layouts.createLayout);
  if (answered !== undefined) return answered;
  const { name, isDefault, elements } = fields;
  // Checked again under the lock; here it avoids a copy in vain.
  if (fields.background !== undefined) await requireRoom(db, organizer, fields.background);
  const background = fields.background === undefined ? null : await copyBackground(files, fields.background);
  let created: number | undefined;
  const create = async (tx: Tx): Promise<CreateLayoutResponse> => {
    if (background !== null) await lockRoom(tx, organizer);
    await lockEvent(tx, place);
    if (background !== null) await requireRoom(tx, organizer, background);
    if (isDefault) await refuseSecondDefault(tx, place);
    const id = await nextLayoutId(tx);
    const layout = { id, name, isDefault, elements, background };
    await putLayouts(tx, place, [layout]);
    created = id;
    return { layout: toWireLayout(layout, []) };
  };
  const response = await orRemove(() => answerOnce(db, Layouts.createLayout, create), { files, background });
  if (created !== undefined) events.layoutCreated(place, created);
  return response;
}

/** An event has at most one default. The caller holds its lock. */
async function refuseSecondDefault(tx: Tx, place: EventKey): Promise<void> {
  if ((await findDefault(tx, place)) === undefined) return;
  const message = "Another layout of this event is the default already.";
  throw fault("second_default", message, { fields: { non_field_errors: [message] } });
}

const names: ReadonlySet<string> = new Set(["name", "is_default", "elements", "background"]);

/** Changes the named fields of a layout. */
export async function updateLayout(
  request: UpdateLayoutRequest,
  { db, files, events }: { readonly db: Db; readonly files: Files; readonly events: LayoutEvents },
): Promise<UpdateLayoutResponse> {
  const { organizer, event, id, fields } = request;
  const unknown = request.updateMask.filter((name) => !names.has(name));
  if (unknown.length > 0) throw fault("invalid_mask", `A layout has no field ${unknown.join(", ")}.`);
  if (fields === undefined) throw new Error("a layout was to be changed to nothing");
  const place = { organizer, event };
  const sent = new Set(request.updateMask);
  await requireEvent(db, place);
  // Before the background is copied: a repeated request must succeed although its upload or layout may be gone.
  const answered = await findAnswer(db, Layouts.updateLayout);
  if (answered !== undefined) return answered;
  await requireLayout(db, { ...place, id });
  const upload = sent.has("background") ? fields.background : undefined;
  if (upload !== undefined) await requireRoom(db, organizer, upload);
  const background = upload === undefined ? null : await copyBackground(files, upload);
  let isChanged = false;
  const update = async (tx: Tx): Promise<UpdateLayoutResponse> => {
    if (background !== null) await lockRoom(tx, organizer);
    await lockEvent(tx, place);
    if (background !== null) await requireRoom(tx, organizer, background);
    const before = await requireLayout(tx, { ...place, id });
    const after = applyFields(before, { fields, background, sent });
    if (after.isDefault && !before.isDefault) await refuseSecondDefault(tx, place);
    await putLayouts(tx, place, [after]);
    if (before.background !== null && before.background.name !== after.background?.name)
      await noteFilesToRemove(tx, [keyOf(before.background.name)]);
    isChanged = true;
    return { layout: toWireLayout(after, await findOfLayouts(tx, place, [id])) };
  };
  const response = await orRemove(() => answerOnce(db, Layouts.updateLayout, update), { files, background });
  if (isChanged) events.layoutChanged(place, id);
  return response;
}

function applyFields(
  before: Layout,
  {
    fields,
    background,
    sent,
  }: { readonly fields: LayoutFields; readonly background: Background | null; readonly sent: ReadonlySet<string> },
): Layout {
  return {
    id: before.id,
    name: sent.has("name") ? fields.name : before.name,
    isDefault: sent.has("is_default") ? fields.isDefault : before.isDefault,
    elements: sent.has("elements") ? fields.elements : before.elements,
    background: sent.has("background") ? background : before.background,
  };
}

/** Deletes a layout with its assignments. The first remaining layout by name replaces a deleted default. */
export async function deleteLayout(
  request: DeleteLayoutRequest,
  { db, events }: { readonly db: Db; readonly events: LayoutEvents },
): Promise<DeleteLayoutResponse> {
  const { organizer, event, id } = request;
  const place = { organizer, event };
  let isDeleted = false;
  const response = await answerOnce(db, Layouts.deleteLayout, async (tx) => {
    await lockEvent(tx, place);
    const { isDefault, background } = await requireLayout(tx, { ...place, id });
    await deleteLayouts(tx, place, [id]);
    if (isDefault) await promoteFirst(tx, place);
    if (background !== null) await noteFilesToRemove(tx, [keyOf(background.name)]);
    isDeleted = true;
    return {};
  });
  if (isDeleted) events.layoutDeleted(place, id);
  return response;
}
