import type { Db } from "@tessera/kit/pg/database";
import type { Scan, ScanOutcome } from "@tessera/protos/gen/ticketing/checkin/v1/scans";
import { expandPositions } from "../positions/expand-positions.ts";
import type { ShownOutcome } from "./fit-outcomes.ts";

/**
 * Shows in full what scans asked to see. What is asked in the same way on one list is read together, and its resources
 * are on the first of these outcomes.
 */
export async function expandOutcomes(
  db: Db,
  { scans, outcomes }: { readonly scans: readonly Scan[]; readonly outcomes: readonly ScanOutcome[] },
): Promise<ShownOutcome[]> {
  const expanded = outcomes.map((bare): ShownOutcome => ({ bare, shown: bare }));
  const wanted = scans.flatMap((scan, index) => {
    const position = outcomes[index]?.position;
    return scan.expand === undefined || position === undefined ? [] : [{ scan, expand: scan.expand, position, index }];
  });
  const groups = Map.groupBy(wanted, ({ scan: { organizer, event, list }, expand }) =>
    JSON.stringify([organizer, event, list, expand]),
  );
  for (const group of groups.values()) {
    const [first] = group;
    if (first === undefined) continue;
    const { organizer, event, list } = first.scan;
    const { positions, documents } = await expandPositions(
      db,
      { organizer, event, list },
      { expand: first.expand, positions: group.map(({ position }) => position) },
    );
    for (const [order, { index }] of group.entries()) {
      const bare = outcomes[index];
      const position = positions[order];
      if (bare === undefined || position === undefined) continue;
      const shared =
        documents === undefined ? {} : index === first.index ? { documents } : { documentsAt: first.index };
      expanded[index] = { bare, shown: { ...bare, position, ...shared } };
    }
  }
  return expanded;
}
