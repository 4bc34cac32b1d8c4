import type { Reads } from "@tessera/kit/pg/reads";
import type { GetScanRequest, GetScanResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { fault } from "../faults.ts";
import { findScan } from "../store/scan-history.ts";
import { toPastScan } from "../wire/history.ts";

/** Shows one scan of an event, refused or not. */
export async function getScan(request: GetScanRequest, { reads }: { readonly reads: Reads }): Promise<GetScanResponse> {
  const scan = await reads.inTurn(request.organizer, (db) => findScan(db, request));
  if (scan === undefined) throw fault("scan_not_found", "The event has no such check-in.");
  return { scan: toPastScan(scan) };
}
