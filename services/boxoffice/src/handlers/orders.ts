import { createHash } from "node:crypto";
import { cutPage } from "@tessera/kit/lists/cut-page";
import type { Queryable } from "@tessera/kit/pg/database";
import type { Place } from "@tessera/kit/pg/page";
import type { Reads } from "@tessera/kit/pg/reads";
import type {
  GetOrderRequest,
  GetOrderResponse,
  ListOrdersRequest,
  ListOrdersResponse,
} from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { fault } from "../faults.ts";
import * as pages from "../store/order-pages.ts";
import { findCode } from "../store/order-reads.ts";
import { toOrderDocument } from "../wire/order-messages.ts";
import { findShop, readShownOrders } from "./read-shown-orders.ts";

/** A page as it is asked for. */
type Sought = Pick<ListOrdersRequest, "ordering" | "page" | "pageSize" | "cursor">;

/** What the first page of a walk found out, which its cursors keep. */
interface Walk {
  /** Counting reads an entry of each order of the event. */
  readonly count: number;
  /** The watermark of the first page: changes since then miss none that happened during the walk. */
  readonly asOf: number;
}

export async function listOrders(
  { statuses, canceled, ...request }: ListOrdersRequest,
  { reads }: { readonly reads: Reads },
): Promise<ListOrdersResponse> {
  const { ordering, page, pageSize, cursor, ...conditions } = request;
  const filter: pages.OrderFilter = { ...conditions, statuses: statuses?.letters };
  const sought = { ordering, page, pageSize, cursor };
  return reads.inTurn(filter.organizer, async (db) => {
    const asOf = await pages.readAsOf(db, filter);
    return db.transaction(async (tx) => {
      const shop = await findShop(tx, filter);
      if (shop === undefined) return { orders: [], ...cutPage(sought, 0), count: 0, asOf, next: undefined };
      const found = await findCodes(tx, filter, { sought, asOf });
      const { codes, walk } = found;
      const { orders, beside } = await readShownOrders(tx, shop, { codes, canceled });
      const last = orders.at(-1);
      const hasMore = found.hasMore || orders.length < codes.length;
      const next = hasMore && last !== undefined ? await makeCursor(tx, filter, { sought, walk, last: last.code }) : {};
      return { orders: orders.map((order) => toOrderDocument(order, beside)), ...walk, page: found.page, next };
    });
  });
}

interface FoundCodes {
  readonly codes: readonly string[];
  readonly page: number;
  /** More orders follow. */
  readonly hasMore: boolean;
  readonly walk: Walk;
}

async function findCodes(
  tx: Queryable,
  asked: pages.OrderFilter,
  { sought, asOf }: { readonly sought: Sought; readonly asOf: number },
): Promise<FoundCodes> {
  const { ordering, page: number } = sought;
  const opened = openCursor(asked, sought);
  const filter = await pages.withoutTests(tx, asked);
  if (opened !== undefined) {
    const { place, walk } = opened;
    const { limit } = cutPage({ page: 1, pageSize: sought.pageSize }, walk.count);
    const codes = await pages.codesBehind(tx, filter, { ordering, place, limit: limit + 1 });
    return { codes: codes.slice(0, limit), hasMore: codes.length > limit, page: number, walk };
  }
  const count = await pages.countOrders(tx, filter);
  const { page, limit, offset } = cutPage({ page: number, pageSize: sought.pageSize }, count);
  const codes = await pages.pageCodes(tx, filter, { ordering, limit, offset, count });
  return { codes, hasMore: offset + limit < count, page, walk: { count, asOf } };
}

/** A longer one would be cut on its way. */
const longestCursor = 200;

/** Makes the cursor of the page behind an order. Undefined: that page is found by its number. */
async function makeCursor(
  tx: Queryable,
  filter: pages.OrderFilter,
  { sought, walk, last }: { readonly sought: Sought; readonly walk: Walk; readonly last: string },
): Promise<{ readonly cursor: string } | undefined> {
  const place = await pages.findPlace(tx, filter, { ordering: sought.ordering, code: last });
  const written = Buffer.from(place ?? "").toString("base64url");
  const use = useOf(filter, { ...sought, page: sought.page + 1 });
  const cursor = `${walk.asOf}.${walk.count}.${use}.${written}`;
  return cursor.length <= longestCursor ? { cursor } : undefined;
}

/** Reads a cursor; undefined: it is of another request, or none. */
function openCursor(
  filter: pages.OrderFilter,
  { cursor, ...sought }: Sought,
): { readonly place: Place; readonly walk: Walk } | undefined {
  const parts = /^(\d{1,16})\.(\d{1,9})\.([\w-]{8})\.([\w-]+)$/.exec(cursor ?? "");
  const [, asOf, count, use, place = ""] = parts ?? [];
  if (use !== useOf(filter, sought)) return undefined;
  const read = pages.readPlace(sought.ordering, Buffer.from(place, "base64url").toString());
  return read && { place: read, walk: { count: Number(count), asOf: Number(asOf) } };
}

/** The page and the request that a cursor is valid for. More tickets may be scanned during a walk. */
function useOf(filter: pages.OrderFilter, { ordering, page, pageSize }: Sought): string {
  const { orOfPositions: _, ...conditions } = filter;
  const use = JSON.stringify([conditions, ordering, page, pageSize]);
  return createHash("sha256").update(use).digest("base64url").slice(0, 8);
}

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
