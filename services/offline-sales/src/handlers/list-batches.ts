import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Reads } from "@tessera/kit/pg/reads";
import type { ListBatchesRequest, ListBatchesResponse } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import { countBatches, pageBatches } from "../store/batches.ts";
import { requireEvent } from "../store/events.ts";
import { toWireBatch } from "../wire/batch-messages.ts";

/** Pages through the batches of an event. */
export async function listBatches(
  request: ListBatchesRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListBatchesResponse> {
  return reads.inTurn(request.organizer, async (db) => {
    await requireEvent(db, request);
    const count = await countBatches(db, request);
    const { page, limit, offset } = cutPage(request, count);
    const found = await pageBatches(db, request, { limit, offset });
    return { batches: found.map((batch) => toWireBatch(batch)), count, page };
  });
}
