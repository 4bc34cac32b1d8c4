import type { CancelBatchResponse, OfflineBatch } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import type { TypeOf } from "@tessera/schema/schema";
import { formatInstant } from "@tessera/values";
import type { Reply } from "../../http/route.ts";
import type { batchBody } from "./schema.ts";

export type SentBatch = TypeOf<typeof batchBody.schema>;

export function toNewBatch(sent: SentBatch) {
  const { testmode, sales_channel: salesChannel, layout, item, amount, comment, subevent, variation } = sent;
  const ofSome = { subevent: subevent ?? undefined, variation: variation ?? undefined };
  return { testmode, salesChannel, layout, item, amount, comment, ...ofSome };
}

export function presentListed(batch: OfflineBatch) {
  const { id, createdAt, canceledAt, testmode, salesChannel, layout, subevent, item, variation, amount, comment } =
    batch;
  return {
    id,
    creation: formatInstant(createdAt),
    canceled: canceledAt === undefined ? null : formatInstant(canceledAt),
    testmode,
    sales_channel: salesChannel,
    layout,
    subevent: subevent ?? null,
    item,
    variation: variation ?? null,
    amount,
    comment,
  };
}

export function presentBatch(batch: OfflineBatch | undefined) {
  if (batch === undefined) throw new Error("offline-sales answered without a batch");
  return { ...presentListed(batch), orders: batch.orders };
}

/** Presents a canceled batch, or the scans that prevent its cancellation. */
export function presentCanceled({ batch, scannedOrders }: CancelBatchResponse): Reply {
  if (scannedOrders.length === 0) return { status: "ok", body: presentBatch(batch) };
  const detail = "Tickets of this batch were scanned. Send `force` to cancel it nevertheless.";
  return { status: "invalid", body: { detail, scanned_orders: scannedOrders } };
}
