import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListCheckinListsRequest, ListCheckinListsResponse } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { reportUnknownIds } from "../domain/report-unknown-ids.ts";
import { fault } from "../faults.ts";
import { countOnLists } from "../store/counts.ts";
import { requireEvent } from "../store/events.ts";
import { findListsChanged } from "../store/list-changes.ts";
import { countLists, type ListFilter, pageLists } from "../store/lists.ts";
import { findSubevent } from "../store/subevents.ts";
import { toCheckinList } from "../wire/list-messages.ts";
import { expandLists } from "./get-checkin-list.ts";

/** Pages through the lists of an event. */
export async function listCheckinLists(
  request: ListCheckinListsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListCheckinListsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    const { organizer, event, subevent, subeventMatch, endsAfter } = request;
    await requireEvent(db, request);
    if (subevent !== undefined && (await findSubevent(db, { organizer, event, id: subevent })) === undefined) {
      throw fault("invalid_filter", "The event has no such date.", {
        fields: { subevent: reportUnknownIds([subevent], "date") },
      });
    }
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
