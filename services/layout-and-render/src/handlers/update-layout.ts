import type { Files } from "@tessera/kit/files/files";
import { noteFilesToRemove } from "@tessera/kit/jobs/files-to-remove";
import { answerOnce, findAnswer } from "@tessera/kit/pg/answer-once";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type {
  LayoutFields,
  UpdateLayoutRequest,
  UpdateLayoutResponse,
} from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { Layouts } from "@tessera/protos/services";
import { lockRoom, orRemove, requireRoom } from "../backgrounds/background-room.ts";
import { copyBackground, keyOf } from "../backgrounds/backgrounds.ts";
import type { Background, Layout } from "../domain/selection/layout.ts";
import { fault } from "../faults.ts";
import type { LayoutEvents } from "../report-events.ts";
import { findOfLayouts } from "../store/assignments.ts";
import { lockEvent, requireEvent } from "../store/events.ts";
import { putLayouts, requireLayout } from "../store/layouts.ts";
import { toWireLayout } from "../wire/layout-messages.ts";
import { refuseSecondDefault } from "./create-layout.ts";

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
  // Before the background is copied: its upload, or the layout, may be gone.
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
