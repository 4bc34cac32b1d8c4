import type { Db } from "@tessera/kit/pg/database";
import type {
  DeleteCheckinListRequest,
  DeleteCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { CheckinEvents } from "../events.ts";
import { removeList } from "../store/lists.ts";
import { listNotFound, requireEvent } from "./find-or-fault.ts";

/** Deletes a list with all its scans. */
export async function deleteCheckinList(
  { db, events }: { readonly db: Db; readonly events: CheckinEvents },
  request: DeleteCheckinListRequest,
): Promise<DeleteCheckinListResponse> {
  await requireEvent(db, request);
  const removed = await db.transaction((tx) => removeList(tx, request));
  if (!removed) throw listNotFound();
  events.listDeleted({ organizer: request.organizer, event: request.event, list: request.id });
  return {};
}
