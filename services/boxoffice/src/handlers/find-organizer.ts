import type { Db } from "@tessera/kit/pg/database";
import type { FindOrganizerRequest, FindOrganizerResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/shredding";
import { fault } from "../faults.ts";
import { findCreation } from "../store/organizers.ts";

/** Finds the organizer that has a name now: names can be reused. */
export async function findOrganizer(
  { organizer }: FindOrganizerRequest,
  { db }: { readonly db: Db },
): Promise<FindOrganizerResponse> {
  const createdAt = await findCreation(db, organizer);
  if (createdAt === undefined) throw fault("organizer_not_found", "there is no such organizer");
  return { createdAt };
}
