import type { Reads } from "@tessera/kit/pg/reads";
import type {
  FindFirstEntriesRequest,
  FindFirstEntriesResponse,
} from "@tessera/protos/gen/ticketing/checkin/v1/first_entries";
import { fault } from "../faults.ts";
import { readFirstEntries } from "../store/first-entries.ts";

/** As many as one print or one page of tickets may have. */
const mostPositions = 1000;

/** Finds which tickets, and add-ons of them, were scanned successfully, and when they first entered. */
export async function findFirstEntries(
  { organizer, event, positions }: FindFirstEntriesRequest,
  { reads }: { readonly reads: Reads },
): Promise<FindFirstEntriesResponse> {
  if (positions.length > mostPositions)
    throw fault("too_many_first_entries", `Ask for ${mostPositions} positions at most.`);
  const entries = await reads.inTurn(organizer, (db) => readFirstEntries(db, { organizer, event }, positions));
  return {
    scanned: entries.map(({ position, firstEntryAt }) => ({ position, firstEntryAt: firstEntryAt ?? undefined })),
  };
}
