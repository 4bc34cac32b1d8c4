import type { Reads } from "@tessera/kit/pg/reads";
import type { FindSharedIdsRequest, FindSharedIdsResponse } from "@tessera/protos/gen/ticketing/checkin/v1/lists";
import { findSharedIds as readSharedIds } from "../store/lists.ts";

/** Finds ids that lists of several events have. */
export async function findSharedIds(
  { organizer, among }: FindSharedIdsRequest,
  { reads }: { readonly reads: Reads },
): Promise<FindSharedIdsResponse> {
  return { lists: await reads.inTurn(organizer, (db) => readSharedIds(db, { organizer, among: among?.slugs })) };
}
