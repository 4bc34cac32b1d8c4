import { noteFilesToRemove } from "@tessera/kit/jobs/files-to-remove";
import { answerOnce } from "@tessera/kit/pg/answer-once";
import type { Db } from "@tessera/kit/pg/database";
import type { DeleteLayoutRequest, DeleteLayoutResponse } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { Layouts } from "@tessera/protos/services";
import { keyOf } from "../backgrounds/backgrounds.ts";
import type { LayoutEvents } from "../report-events.ts";
import { lockEvent } from "../store/events.ts";
import { deleteLayouts, promoteFirst, requireLayout } from "../store/layouts.ts";

/** Deletes a layout with its assignments. If it was the default, the first that remains by name becomes it. */
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
