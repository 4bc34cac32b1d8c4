import { settle } from "@tessera/kit/bus/settle";
import type { Db } from "@tessera/kit/pg/database";
import type { Client } from "@tessera/kit/rpc";
import type { CancelBatchRequest, CancelBatchResponse } from "@tessera/protos/gen/ticketing/offlinesales/v1/batches";
import type { Facts, Sales, ScanHistory } from "@tessera/protos/services";
import { ordersOf } from "../domain/orders-of.ts";
import type { BatchEvents } from "../report-events.ts";
import { requireEvent } from "../store/events.ts";
import { noteCanceled, requireBatch } from "../store/stored-batches.ts";
import { toWireBatch } from "../wire/batch-messages.ts";

export interface CancelTools {
  readonly db: Db;
  readonly sales: Client<Sales>;
  readonly scanHistory: Client<ScanHistory>;
  readonly boxofficeFacts: Client<Facts>;
  readonly checkinFacts: Client<Facts>;
  readonly events: BatchEvents;
}

/** Boxoffice cancels ten thousand orders in one transaction. */
const cancelingMs = 30_000;

/** The facts are under way: after this time the answer comes before gates have them. */
const settlingMs = 5000;

/**
 * Cancels all orders of a batch. A repetition cancels nothing more. Nothing is canceled while tickets were scanned, unless
 * that is wanted. When the answer comes, gates refuse the tickets.
 */
export async function cancelBatch(request: CancelBatchRequest, tools: CancelTools): Promise<CancelBatchResponse> {
  const { organizer, event, id, force } = request;
  const { db, sales, scanHistory, boxofficeFacts, checkinFacts } = tools;
  const place = { organizer, event };
  await requireEvent(db, place);
  const batch = await requireBatch(db, { ...place, id });
  if (batch.canceled === null) {
    if (!force) {
      const { positions } = await scanHistory.findScanned({ ...place, positions: [...batch.positions] });
      if (positions.length > 0) return { batch: undefined, scannedOrders: ordersOf(batch, positions) };
    }
    const { canceled } = await sales.cancelSale({ ...place, sale: batch.job }, { timeoutMs: cancelingMs });
    await noteCanceled(db, { ...place, id });
    tools.events.batchCanceled(place, id, canceled);
  }
  // By a repetition, too: a process that was killed has canceled the batch, and gates may not know it yet.
  await settle({ owner: boxofficeFacts, readers: [checkinFacts.caughtUp], until: Date.now() + settlingMs });
  const now = await requireBatch(db, { ...place, id });
  return { batch: toWireBatch(now, now.orders), scannedOrders: [] };
}
