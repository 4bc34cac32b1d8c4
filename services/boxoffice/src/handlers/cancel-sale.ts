import type { Db } from "@tessera/kit/pg/database";
import {
  type CancelSaleRequest,
  type CancelSaleResponse,
  SellTicketsResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/sales";
import { isUuid } from "@tessera/values";
import { fault } from "../faults.ts";
import { cancelOrders } from "../records/sold-orders.ts";
import type { BoxofficeEvents } from "../report-events.ts";
import { lockPresent } from "../store/events.ts";
import { locksOf, takeLocks } from "../store/locks.ts";
import { findSale, markCanceled, storeSale } from "../store/sales.ts";

/** The hash of no request. */
const ofNoRequest = new Uint8Array();

const ofNoTickets = SellTicketsResponse.encode({ problems: [], tickets: [] }).finish();

/**
 * Cancels all orders of a sale, which releases their capacity. Idempotent. A sale that does not exist yet can never be
 * made: its request may still be under way after its caller has given up.
 */
export async function cancelSale(
  { organizer, event, sale }: CancelSaleRequest,
  { db, events }: { db: Db; events: BoxofficeEvents },
): Promise<CancelSaleResponse> {
  const notFound = () => fault("sale_not_found", "the event has no such sale");
  if (!isUuid(sale) || `${organizer}${event}`.includes("\0")) throw notFound();
  const scope = { organizer, event };
  const canceled = await db.transaction(async (tx) => {
    await takeLocks(tx, locksOf([scope]));
    const [present] = await lockPresent(tx, [scope]);
    if (present === undefined) throw notFound();
    const made = await findSale(tx, scope, sale);
    if (made?.isCanceled === true) return 0;
    if (made === undefined) {
      await storeSale(tx, scope, { id: sale, requestHash: ofNoRequest, answer: ofNoTickets });
      await markCanceled(tx, scope, sale);
      return 0;
    }
    const { tickets } = SellTicketsResponse.decode(made.answer);
    const orders = await cancelOrders(tx, scope, { tickets, at: present.now });
    await markCanceled(tx, scope, sale);
    return orders;
  });
  if (canceled > 0) events.saleCanceled({ organizer, event, sale, tickets: canceled });
  return { canceled };
}
