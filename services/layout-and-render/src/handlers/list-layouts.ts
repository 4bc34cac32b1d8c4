import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListLayoutsRequest, ListLayoutsResponse } from "@tessera/protos/gen/ticketing/layout/v1/layouts";
import { findOfLayouts } from "../store/assignments.ts";
import { requireEvent } from "../store/events.ts";
import { countLayouts, pageLayouts } from "../store/layouts.ts";
import { toWireLayout } from "../wire/layout-messages.ts";

/** Pages through the layouts of an event. */
export async function listLayouts(
  request: ListLayoutsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListLayoutsResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    const count = await countLayouts(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const found = await pageLayouts(db, request, { limit, offset });
    const assignments = await findOfLayouts(
      db,
      request,
      found.map(({ id }) => id),
    );
    return { layouts: found.map((layout) => toWireLayout(layout, assignments)), count, page };
  });
}
