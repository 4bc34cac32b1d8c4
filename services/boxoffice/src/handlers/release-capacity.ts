import type { Db } from "@tessera/kit/pg/database";
import type {
  ReleaseCapacityRequest,
  ReleaseCapacityResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/capacity";
import { isUuid } from "@tessera/values";
import { fault } from "../faults.ts";
import { release } from "../store/holds.ts";

/**
 * Ends a hold without waiting for other holds: it only releases. The row of the hold serializes this with the request
 * for the hold, which takes nothing from then on.
 */
export async function releaseCapacity(
  { organizer, event, hold }: ReleaseCapacityRequest,
  { db }: { db: Db },
): Promise<ReleaseCapacityResponse> {
  if (!isUuid(hold)) throw fault("invalid_hold", "a hold is named by a UUID");
  await db.transaction((tx) => release(tx, { organizer, event }, hold));
  return {};
}
