import type { Db } from "@tessera/kit/pg/database";
import type { GetScanRequest, GetScanResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { fault } from "../faults.ts";
import { findScan } from "../store/scan-history.ts";
import { toPastScan } from "../wire/history.ts";

/** Shows one scan of an event, refused or not. */
export async function getScan(
  request: GetScanRequest,
  { reads: db }: { readonly reads: Db },
): Promise<GetScanResponse> {
  const scan = await findScan(db, request);
  if (scan === undefined) throw fault("scan_not_found", "The event has no such check-in.");
  return { scan: toPastScan(scan) };
}
