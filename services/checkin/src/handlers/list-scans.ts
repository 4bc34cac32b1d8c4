import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListScansRequest, ListScansResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import type { PastScan, ScanFilter } from "../domain/past-scan.ts";
import { reportUnknownIds } from "../domain/report-unknown-ids.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { findList } from "../store/lists.ts";
import { countScans, pageScans } from "../store/scan-history.ts";
import { toPastScan, toScanFilter } from "../wire/history.ts";

/**
 * Pages through the scans of an event, refused ones too.
 *
 * Gates and devices belong to the organizer and are not copied here: an id of theirs without any scan, or
 * that exists nowhere, matches nothing.
 */
export async function listScans(
  request: ListScansRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListScansResponse> {
  const { organizer, event, list } = request;
  return reads.inTurn(organizer, async (db) => {
    await requireEvent(db, request);
    if (list !== undefined && (await findList(db, { organizer, event, id: list })) === undefined) {
      throw fault("invalid_filter", "The event has no such check-in list.", {
        fields: { list: reportUnknownIds([list], "check-in list") },
      });
    }
    const { scans, count, page } = await db.transaction((tx) => findPage(tx, toScanFilter(request), request));
    return { scans: scans.map(toPastScan), count, page };
  });
}

/** Scans are counted up to here: to count the millions of a large event would take seconds for every page. */
const mostCounted = 50_000;

interface FoundScans {
  readonly scans: readonly PastScan[];
  readonly count: number;
  readonly page: number;
}

/**
 * Finds one page of scans. Of more scans than are counted, `count` reaches at least to the end of the page, and one further
 * if there are more: the pages from the first to the one without a next have all of them. The last page is then the last
 * counted one.
 */
async function findPage(
  tx: Queryable,
  filter: ScanFilter,
  asked: Pick<ListScansRequest, "ordering" | "page" | "pageSize">,
): Promise<FoundScans> {
  const { ordering, pageSize } = asked;
  const counted = await countScans(tx, filter, { most: mostCounted + 1 });
  if (counted <= mostCounted) {
    const { page, limit, offset } = cutPage(asked, counted);
    const scans = counted === 0 ? [] : await pageScans(tx, filter, { ordering, limit, offset });
    return { scans, count: counted, page };
  }
  const last = cutPage({ page: 0, pageSize }, mostCounted).page;
  const { page, limit, offset } = cutPage({ page: asked.page || last, pageSize }, Number.MAX_SAFE_INTEGER);
  const found = await pageScans(tx, filter, { ordering, limit: limit + 1, offset });
  if (found.length === 0) throw fault("page_not_found", "Invalid page.");
  return { scans: found.slice(0, limit), count: Math.max(mostCounted, offset + found.length), page };
}
