import type { Db } from "@tessera/kit/pg/database";
import type { GetBatchRequest, GetBatchResponse } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import { requireBatch } from "../store/batches.ts";
import { requireEvent } from "../store/events.ts";
import { toWireBatch } from "../wire/batch-messages.ts";

/** Finds one batch of an event, with its orders. */
export async function getBatch(request: GetBatchRequest, { db }: { readonly db: Db }): Promise<GetBatchResponse> {
  await requireEvent(db, request);
  const batch = await requireBatch(db, request);
  return { batch: toWireBatch(batch, batch.orders) };
}
