import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListAssignmentsRequest, ListAssignmentsResponse } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { countAssignments, pageAssignments } from "../store/assignments.ts";
import { requireEvent } from "../store/events.ts";
import { toWireAssignment } from "../wire/layout-messages.ts";

/** Pages through what the layouts of an event are for. */
export async function listAssignments(
  request: ListAssignmentsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListAssignmentsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    const count = await countAssignments(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const found = await pageAssignments(db, request, { limit, offset });
    return { assignments: found.map(toWireAssignment), count, page };
  });
}
