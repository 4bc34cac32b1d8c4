import { cutPage } from "@tessera/kit/lists/cut-page";
import { refuseFilters } from "@tessera/kit/lists/refuse-filters";
import type { Reads } from "@tessera/kit/pg/reads";
import type { Client } from "@tessera/kit/rpc";
import type { ListBatchesRequest, ListBatchesResponse } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import type { Layouts } from "@tessera/protos/services";
import { hasLayout } from "../has-layout.ts";
import { countBatches, pageBatches } from "../store/batches.ts";
import { findUnknown } from "../store/copies.ts";
import { requireEvent } from "../store/events.ts";
import { toWireBatch } from "../wire/batch-messages.ts";

/** Pages through the batches of an event. */
export async function listBatches(
  request: ListBatchesRequest,
  { reads, layouts }: { readonly reads: Reads; readonly layouts: Client<Layouts> },
): Promise<ListBatchesResponse> {
  const isKnown = request.layout === undefined || (await hasLayout(layouts, request, request.layout));
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    refuseFilters([...(await findUnknown(db, request, request)), ...(isKnown ? [] : ["layout"])]);
    const count = await countBatches(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const found = await pageBatches(db, request, { ordering: request.ordering, limit, offset });
    return { batches: found.map((batch) => toWireBatch(batch)), count, page };
  });
}
