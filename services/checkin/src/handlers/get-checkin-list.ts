import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  CheckinList as CheckinListOnWire,
  GetCheckinListRequest,
  GetCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { Documents, Expand } from "@tessera/protos/gen/ticketing/checkin/v1/positions";
import type { CheckinList } from "../domain/list.ts";
import { countOnLists } from "../store/counts.ts";
import { readDocuments } from "../store/documents.ts";
import { requireEvent } from "../store/events.ts";
import type { EventKey } from "../store/keys.ts";
import { requireList } from "../store/lists.ts";
import { toCheckinList } from "../wire/list-messages.ts";

/** Shows one list. */
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

/** Reads the dates of lists, where they are asked for. */
export async function expandLists(
  db: Queryable,
  { organizer, event, expand }: EventKey & { readonly expand?: Expand | undefined },
  lists: readonly CheckinList[],
): Promise<Documents | undefined> {
  if (expand?.subevent !== true) return undefined;
  const ids = lists.flatMap(({ subevent }) => subevent ?? []);
  return { subevents: await readDocuments(db, "subevent", { organizer, event, ids }), items: [], questions: [] };
}

/** Presents a list with its counts of this moment. */
export async function withCounts(
  db: Queryable,
  { organizer, event }: EventKey,
  list: CheckinList,
): Promise<CheckinListOnWire> {
  const counts = await countOnLists(db, { organizer, event, lists: [list.id] });
  return toCheckinList(list, counts.get(list.id));
}
