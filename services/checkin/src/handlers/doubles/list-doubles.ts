import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListDoublesRequest, ListDoublesResponse } from "@tessera/protos/gen/ticketing/checkin/v1/doubles";
import { type NotedDouble, sortDoubles } from "../../domain/double-filter.ts";
import { toDouble, toDoubleFilter } from "../../wire/double-messages.ts";
import { readAllDoubles, requireFilter } from "./read-doubles.ts";

/** Pages through the doubles of an event. Each page is made of all scans that may be part of one: there is no second truth. */
export async function listDoubles(
  request: ListDoublesRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListDoublesResponse> {
  const { organizer, event, ordering } = request;
  const filter = toDoubleFilter(request.filter);
  const found: NotedDouble[] = [];
  await reads.inTurn(organizer, async (db) => {
    await requireFilter(db, { organizer, event }, filter);
    await readAllDoubles(db, { organizer, event }, { filter, add: (double) => void found.push(double) });
  });
  const { page, limit, offset } = cutPage(request, found.length);
  const shown = sortDoubles(found, ordering).slice(offset, offset + limit);
  return { doubles: shown.map(toDouble), count: found.length, page };
}
