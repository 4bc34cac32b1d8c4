import type { Files } from "@tessera/kit/files/files";
import { answerOnce, findAnswer } from "@tessera/kit/pg/answer-once";
import type { Db, Tx } from "@tessera/kit/pg/database";
import type { CreateLayoutRequest, CreateLayoutResponse } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { Layouts } from "@tessera/protos/services";
import { lockRoom, orRemove, requireRoom } from "../backgrounds/background-room.ts";
import { copyBackground } from "../backgrounds/backgrounds.ts";
import { fault } from "../faults.ts";
import type { LayoutEvents } from "../report-events.ts";
import { lockEvent, requireEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import { findDefault, nextLayoutId, putLayouts } from "../store/layouts.ts";
import { toWireLayout } from "../wire/layout-messages.ts";

/** Adds a layout to an event. */
export async function createLayout(
  request: CreateLayoutRequest,
  { db, files, events }: { readonly db: Db; readonly files: Files; readonly events: LayoutEvents },
): Promise<CreateLayoutResponse> {
  const { organizer, event, fields } = request;
  if (fields === undefined) throw new Error("a layout was to be created from nothing");
  const place = { organizer, event };
  await requireEvent(db, place);
  // Before the background is copied: its upload may be gone, and the layout is there.
  const answered = await findAnswer(db, Layouts.createLayout);
  if (answered !== undefined) return answered;
  const { name, isDefault, elements } = fields;
  // Again under the lock: nothing is copied in vain where there is no room now.
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

/** An event has one default at most. To be called under its lock. */
export async function refuseSecondDefault(tx: Tx, place: EventKey): Promise<void> {
  if ((await findDefault(tx, place)) === undefined) return;
  const message = "Another layout of this event is the default already.";
  throw fault("second_default", message, { fields: { non_field_errors: [message] } });
}
