import { cutPage, fitPage, followPage } from "@tessera/kit/lists/cut-page";
import { refuseFilters } from "@tessera/kit/lists/refuse-filters";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Reads } from "@tessera/kit/pg/reads";
import {
  type GetOrderPositionRequest,
  type GetOrderPositionResponse,
  type ListOrderPositionsRequest,
  type ListOrderPositionsResponse,
  OrderPositionDocument,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { fault } from "../faults.ts";
import { lacksOne } from "../store/documents.ts";
import { countPositions, findPosition, type PlacedPosition, pagePositions } from "../store/order-reads.ts";
import { toPositionDocument } from "../wire/order-messages.ts";
import { findShop, readShownOrders, type Shop } from "./read-shown-orders.ts";

/** Pages through the positions of all orders of an event. */
export async function listOrderPositions(
  { page: number, pageSize, cursor, ...filter }: ListOrderPositionsRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListOrderPositionsResponse> {
  return reads.inTurn(filter.organizer, (db) =>
    db.transaction(async (tx) => {
      const shop = await findShop(tx, filter);
      if (shop !== undefined) await refuseUnknown(tx, filter);
      const count = shop === undefined ? 0 : await countPositions(tx, filter);
      const cut = cutPage({ page: number, pageSize, cursor }, count);
      const found = count === 0 ? [] : await pagePositions(tx, filter, cut);
      const { positions, read } = shop === undefined ? nothing : await readDocuments(tx, shop, found);
      const next = followPage(cut, { shown: read, isShort: read < found.length, count });
      return { positions: [...positions], count, page: cut.page, next };
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
      const { positions } = await readDocuments(tx, shop, [found]);
      return { position: positions[0] };
    }),
  );
}

/** Throws for a filter that names an item or a date that the event does not have. */
async function refuseUnknown(
  db: Queryable,
  { organizer, event, item, subevent }: Omit<ListOrderPositionsRequest, "page" | "pageSize" | "cursor">,
): Promise<void> {
  const lacks = (kind: "item" | "subevent", id: number | undefined) =>
    lacksOne(db, kind, { organizer, event, ids: id === undefined ? [] : [id] });
  refuseFilters([
    ...((await lacks("item", item)) ? ["item"] : []),
    ...((await lacks("subevent", subevent)) ? ["subevent"] : []),
  ]);
}

interface ReadDocuments {
  readonly positions: readonly OrderPositionDocument[];
  /** How many of the wanted positions were read. */
  readonly read: number;
}

const nothing: ReadDocuments = { positions: [], read: 0 };

/** Reads the first of these positions that an answer has room for, with their orders, few at a time where these are large. */
async function readDocuments(tx: Queryable, shop: Shop, wanted: readonly PlacedPosition[]): Promise<ReadDocuments> {
  const byId = new Map<number, { readonly position: OrderPositionDocument; readonly bytes: number }>();
  let left = [...new Set(wanted.map(({ order }) => order))];
  for (;;) {
    const { orders, beside } = await readShownOrders(tx, shop, {
      codes: left,
      canceled: { positions: true, fees: false },
    });
    for (const order of orders) {
      for (const { id } of wanted.filter((each) => each.order === order.code)) {
        const position = toPositionDocument(id, order, beside);
        if (position !== undefined)
          byId.set(id, { position, bytes: OrderPositionDocument.encode(position).finish().length });
      }
    }
    left = left.slice(Math.max(1, orders.length));
    const unread = new Set(left);
    const reached = wanted.findIndex(({ order }) => unread.has(order));
    const read = reached < 0 ? wanted : wanted.slice(0, reached);
    const fitting = fitPage(read, ({ id }) => byId.get(id)?.bytes ?? 0);
    if (left.length === 0 || fitting.length < read.length)
      return { positions: fitting.flatMap(({ id }) => byId.get(id)?.position ?? []), read: fitting.length };
  }
}
