import { cutPage } from "@tessera/kit/lists/cut-page";
import { refuseFilters } from "@tessera/kit/lists/refuse-filters";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  GetOrderPositionRequest,
  GetOrderPositionResponse,
  ListOrderPositionsRequest,
  ListOrderPositionsResponse,
  OrderPositionDocument,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { fault } from "../faults.ts";
import { lacksOne } from "../store/documents.ts";
import { countPositions, findPosition, type PlacedPosition, pagePositions } from "../store/order-reads.ts";
import { toPositionDocument } from "../wire/order-messages.ts";
import { findShop, readShownOrders, type Shop } from "./read-shown-orders.ts";

/** Pages through the positions of all orders of an event. */
export async function listOrderPositions(
  { page: number, pageSize, ...filter }: ListOrderPositionsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListOrderPositionsResponse> {
  return reads.inTurn(filter.organizer, (db) =>
    db.transaction(async (tx) => {
      const shop = await findShop(tx, filter);
      if (shop !== undefined) await refuseUnknown(tx, filter);
      const count = shop === undefined ? 0 : await countPositions(tx, filter);
      const { page, limit, offset } = cutPage({ page: number, pageSize }, count);
      const found = count === 0 ? [] : await pagePositions(tx, filter, { limit, offset });
      return { positions: shop === undefined ? [] : await readDocuments(tx, shop, found), count, page };
    }),
  );
}

export async function getOrderPosition(
  { withCanceled, ...place }: GetOrderPositionRequest,
  { reads }: { readonly reads: Reads },
): Promise<GetOrderPositionResponse> {
  return reads.inTurn(place.organizer, (db) =>
    db.transaction(async (tx) => {
      const shop = await findShop(tx, place);
      const found = shop && (await findPosition(tx, place));
      if (shop === undefined || found === undefined || (found.canceled && !withCanceled))
        throw fault("order_position_not_found", "Not found.");
      const [position] = await readDocuments(tx, shop, [found]);
      return { position };
    }),
  );
}

/** Throws for a filter that names an item or a date that the event does not have. */
async function refuseUnknown(
  db: Queryable,
  { organizer, event, item, subevent }: Omit<ListOrderPositionsRequest, "page" | "pageSize">,
): Promise<void> {
  const lacks = (kind: "item" | "subevent", id: number | undefined) =>
    lacksOne(db, kind, { organizer, event, ids: id === undefined ? [] : [id] });
  refuseFilters([
    ...((await lacks("item", item)) ? ["item"] : []),
    ...((await lacks("subevent", subevent)) ? ["subevent"] : []),
  ]);
}

/** Reads positions with their orders, few at a time where these are large. */
async function readDocuments(
  tx: Queryable,
  shop: Shop,
  wanted: readonly PlacedPosition[],
): Promise<OrderPositionDocument[]> {
  const byId = new Map<number, OrderPositionDocument>();
  let left = [...new Set(wanted.map(({ order }) => order))];
  while (left.length > 0) {
    const { orders, beside } = await readShownOrders(tx, shop, {
      codes: left,
      canceled: { positions: true, fees: false },
    });
    for (const order of orders) {
      for (const { id } of wanted.filter((each) => each.order === order.code)) {
        const document = toPositionDocument(id, order, beside);
        if (document !== undefined) byId.set(id, document);
      }
    }
    left = left.slice(Math.max(1, orders.length));
  }
  return wanted.flatMap(({ id }) => byId.get(id) ?? []);
}
