import type { Reads } from "@tessera/kit/pg/reads";
import type { FindScannedRequest, FindScannedResponse } from "@tessera/protos/gen/ticketing/checkin/v1/history";
import { findScannedPositions } from "../store/scan-history.ts";

/** Finds which tickets were scanned successfully on any list whose scans count as use. */
export async function findScanned(
  request: FindScannedRequest,
  { reads }: { readonly reads: Reads },
): Promise<FindScannedResponse> {
  const { organizer, event, positions } = request;
  const scanned = await reads.inTurn(organizer, (db) => findScannedPositions(db, { organizer, event }, positions));
  return { positions: positions.filter((position) => scanned.has(position)) };
}
