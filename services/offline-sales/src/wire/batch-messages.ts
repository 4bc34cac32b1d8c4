import type { CreateBatchRequest, OfflineBatch } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import type { Batch, BatchFields } from "../domain/batch.ts";

/** A batch, with its orders if they are wanted. */
export function toWireBatch(batch: Batch, orders: readonly string[] = []): OfflineBatch {
  const { id, created, testmode, salesChannel, layout, subevent, item, variation, amount, comment, canceled } = batch;
  return {
    ...{ id, testmode, salesChannel, layout, item, amount, comment },
    createdAt: created,
    subevent: subevent ?? undefined,
    variation: variation ?? undefined,
    orders: [...orders],
    canceledAt: canceled ?? undefined,
  };
}

export function toFields({
  testmode,
  salesChannel,
  layout,
  item,
  amount,
  comment,
  ...sent
}: CreateBatchRequest): BatchFields {
  const { subevent = null, variation = null } = sent;
  return { testmode, salesChannel, layout, subevent, item, variation, amount, comment };
}
