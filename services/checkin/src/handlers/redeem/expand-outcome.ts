import type { Db } from "@tessera/kit/pg/database";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { expandPositions } from "../positions/expand-positions.ts";
import { fitOutcome } from "./fit-outcome.ts";

/** Shows in full what a scan asked to see, as far as a message can carry it. */
export async function expandOutcome(
  db: Db,
  { scan, outcome }: { readonly scan: Scan; readonly outcome: ScanOutcome },
): Promise<ScanOutcome> {
  const { organizer, event, list, expand } = scan;
  if (expand === undefined || outcome.position === undefined) return fitOutcome({ shown: outcome, bare: outcome });
  const { positions, documents } = await expandPositions(
    db,
    { organizer, event, list },
    { expand, positions: [outcome.position] },
  );
  const [position] = positions;
  return fitOutcome({ shown: { ...outcome, position, ...(documents && { documents }) }, bare: outcome });
}
