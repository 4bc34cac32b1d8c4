import { cutPage } from "@tessera/kit/cut-page";
import type { Db } from "@tessera/kit/pg/database";
import type { ListScansRequest, ListScansResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { reportUnknownIds } from "../domain/report-unknown-ids.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { findList } from "../store/lists.ts";
import { countScans, pageScans, planForValues } from "../store/scan-history.ts";
import { toPastScan, toScanFilter } from "../wire/history.ts";

/**
 * Pages through the scans of an event, refused ones too.
 *
 * Gates and devices belong to the organizer and are not copied here: an id of theirs without any scan, or
 * that exists nowhere, matches nothing.
 */
export async function listScans(
  request: ListScansRequest,
  { reads: db }: { readonly reads: Db },
): Promise<ListScansResponse> {
  const { organizer, event, list } = request;
  await requireEvent(db, request);
  if (list !== undefined && (await findList(db, { organizer, event, id: list })) === undefined) {
    throw fault("invalid_filter", "The event has no such check-in list.", {
      fields: { list: reportUnknownIds([list], "check-in list") },
    });
  }
  const filter = toScanFilter(request);
  return db.transaction(async (tx) => {
    await planForValues(tx);
    const count = await countScans(tx, filter);
    const { page, limit, offset } = cutPage(request, count);
    const scans = count === 0 ? [] : await pageScans(tx, filter, { ordering: request.ordering, limit, offset });
    return { scans: scans.map(toPastScan), count, page };
  });
}
