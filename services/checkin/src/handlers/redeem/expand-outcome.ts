import type { Db } from "@tessera/kit/pg/database";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { expandPositions } from "../positions/expand-positions.ts";

/** Adds the resources that a scan expands. */
export async function expandOutcome(
  db: Db,
  { scan, outcome }: { readonly scan: Scan; readonly outcome: ScanOutcome },
): Promise<ScanOutcome> {
  const { organizer, event, list, expand } = scan;
  if (expand === undefined || outcome.position === undefined) return outcome;
  const { positions, documents } = await expandPositions(
    db,
    { organizer, event, list },
    { expand, positions: [outcome.position] },
  );
  const [position] = positions;
  return { ...outcome, position, ...(documents && { documents }) };
}
