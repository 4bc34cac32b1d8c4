import type { Reads } from "@tessera/kit/pg/reads";
import type { GetOrderRequest, GetOrderResponse } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { fault } from "../faults.ts";
import { findCode } from "../store/order-reads.ts";
import { toOrderDocument } from "../wire/order-messages.ts";
import { findShop, readShownOrders } from "./read-shown-orders.ts";

export async function getOrder(
  { code: asked, canceled, ...scope }: GetOrderRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetOrderResponse> {
  return reads.inTurn(scope.organizer, (db) =>
    db.transaction(async (tx) => {
      const shop = await findShop(tx, scope);
      const code = await findCode(tx, scope, asked);
      if (shop === undefined || code === undefined) throw fault("order_not_found", "Not found.");
      const { orders, beside } = await readShownOrders(tx, shop, { codes: [code], canceled });
      const [order] = orders;
      return { order: order && toOrderDocument(order, beside) };
    }),
  );
}
