import { answerOnce } from "@tessera/kit/pg/answer-once";
import type { Db } from "@tessera/kit/pg/database";
import type {
  DeleteCheckinListRequest,
  DeleteCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { CheckinLists } from "@tessera/protos/services";
import type { CheckinEvents } from "../report-events.ts";
import { requireEvent } from "../store/events.ts";
import { noteListsChanged } from "../store/list-changes.ts";
import { listNotFound, removeList } from "../store/lists.ts";

/** Deletes a list with all its scans. */
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
