import type { Db } from "@tessera/kit/pg/database";
import type { GetAssignmentRequest, GetAssignmentResponse } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { fault } from "../faults.ts";
import { findAssignment } from "../store/assignments.ts";
import { requireEvent } from "../store/events.ts";
import { toWireAssignment } from "../wire/layout-messages.ts";

/** Finds one assignment of an event. */
export async function getAssignment(
  request: GetAssignmentRequest,
  { db }: { readonly db: Db },
): Promise<GetAssignmentResponse> {
  await requireEvent(db, request);
  const { organizer, event, id } = request;
  const found = await findAssignment(db, { organizer, event, id });
  if (found === undefined) throw fault("assignment_not_found", "The event has no such assignment of a layout.");
  return { assignment: toWireAssignment(found) };
}
