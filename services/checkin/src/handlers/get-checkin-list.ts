import type { Db, Queryable } from "@tessera/kit/pg/database";
import type {
  CheckinList as CheckinListOnWire,
  GetCheckinListRequest,
  GetCheckinListResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import type { CheckinList } from "../domain/list.ts";
import { countOnLists } from "../store/counts.ts";
import type { EventKey } from "../store/keys.ts";
import { toCheckinList } from "../wire.ts";
import { requireEvent, requireList } from "./find-or-fault.ts";

/** Shows one list. */
export async function getCheckinList(db: Db, request: GetCheckinListRequest): Promise<GetCheckinListResponse> {
  await requireEvent(db, request);
  return { list: await withCounts(db, request, await requireList(db, request)) };
}

/** Presents a list with its counts of this moment. */
export async function withCounts(
  db: Queryable,
  { organizer, event }: EventKey,
  list: CheckinList,
): Promise<CheckinListOnWire> {
  const counts = await countOnLists(db, { organizer, event, lists: [list.id] });
  return toCheckinList(list, counts.get(list.id) ?? { positions: 0, entered: 0 });
}
