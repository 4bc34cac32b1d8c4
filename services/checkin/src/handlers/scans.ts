import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  GetScanRequest,
  GetScanResponse,
  ListScansRequest,
  ListScansResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/history";
import type { PastScan, ScanFilter } from "../domain/past-scan.ts";
import { fault } from "../faults.ts";
import { requireEvent } from "../store/events.ts";
import { countScans, findScan, pageScans } from "../store/scan-history.ts";
import { toPastScan, toScanFilter } from "../wire/history.ts";
import { requireKnown } from "./unknown-ids.ts";

/**
 * Pages through the scans of an event, refused ones too.
 *
 * Check-in has no copy of gates and devices, so an id of theirs that no scan has matches nothing, whether it exists or
 * not.
 */
export async function listScans(
  request: ListScansRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListScansResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    await requireKnown(db, request, { list: request.list });
    const { scans, count, page } = await db.transaction((tx) => findPage(tx, toScanFilter(request), request));
    return { scans: scans.map(toPastScan), count, page };
  });
}

/** The most scans that are counted: to count the millions of a large event takes seconds. */
const mostCounted = 50_000;

interface FoundScans {
  readonly scans: readonly PastScan[];
  readonly count: number;
  readonly page: number;
}

/**
 * Finds one page of scans. Beyond the most scans that are counted, `count` reaches to the end of this page, plus one if
 * more follow: so `next` leads through all pages. `last` is then the last counted page.
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

/** Shows one scan of an event, refused or not. */
export async function getScan(request: GetScanRequest, { reads }: { readonly reads: Reads }): Promise<GetScanResponse> {
  const scan = await reads.inTurn(request.organizer, (db) => findScan(db, request));
  if (scan === undefined) throw fault("scan_not_found", "The event has no such check-in.");
  return { scan: toPastScan(scan) };
}
