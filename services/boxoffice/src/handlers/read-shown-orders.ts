import type { Queryable } from "@tessera/kit/pg/database";
import type { Canceled } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { compileCompletion } from "@tessera/records/document";
import type { EventSettings } from "@tessera/resources/records/event";
import { orderRecord } from "@tessera/resources/records/order";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import { defaultSettings } from "../records/event-settings.ts";
import { findSettings } from "../store/documents.ts";
import { readItems, readOrders, readStatesOf, type StoredOrder, type StoredOrderData } from "../store/order-reads.ts";
import { readPrints } from "../store/prints.ts";
import type { BesideOrders } from "../wire/order-messages.ts";

/** An event whose orders are shown. */
export interface Shop extends Scope {
  readonly settings: EventSettings;
}

/** Finds an event that is not removed. */
export async function findShop(db: Queryable, { organizer, event }: Scope): Promise<Shop | undefined> {
  const found = await findSettings(db, { organizer, event });
  return found && { organizer, event, settings: { ...defaultSettings.data, ...(JSON.parse(found.json) as object) } };
}

/** Of documents. What is shown beside them is about as much, and a message may have 16 MiB. */
const mostDocumentBytes = 4 * 2 ** 20;

/** Of one order that is larger, together with what is shown beside it. */
const mostOrderBytes = 14 * 2 ** 20;

/** Reads the first of these orders, as many as an answer has room for, with what they show of their positions. */
export async function readShownOrders(
  db: Queryable,
  { settings, ...scope }: Shop,
  { codes, canceled }: { readonly codes: readonly string[]; readonly canceled: Canceled | undefined },
): Promise<{ readonly orders: readonly StoredOrder[]; readonly beside: BesideOrders }> {
  const stored = await readOrders(db, scope, { codes, mostBytes: mostDocumentBytes });
  const orders = stored.map((order) => ({ ...order, data: toShownData(order.data, canceled) }));
  const positions = orders.flatMap(({ data }) => data.positions);
  const ids = positions.map(({ id }) => id);
  const states = await readStatesOf(db, scope, ids);
  const items = await readItems(db, scope, [...new Set(positions.map(({ item }) => item))]);
  const prints = await readPrints(db, scope, ids);
  refuseTooLarge(orders, states);
  return { orders, beside: { states, items, prints, settings } };
}

const complete = compileCompletion(orderRecord) as (data: StoredOrderData) => StoredOrderData;

/** The whole data of an order, without canceled parts that are not wanted. */
function toShownData(data: StoredOrderData, wanted: Canceled | undefined): StoredOrderData {
  const { fees, positions, ...rest } = complete(data);
  return {
    ...rest,
    fees: fees.filter(({ canceled }) => !canceled || wanted?.fees === true),
    positions: positions.filter(({ canceled }) => !canceled || wanted?.positions === true),
  };
}

function refuseTooLarge(orders: readonly StoredOrder[], states: BesideOrders["states"]): void {
  const [first] = orders;
  if (first === undefined || orders.length > 1) return;
  const beside = [...states.values()].reduce((sum, { state }) => sum + state.length, 0);
  if (JSON.stringify(first.data).length + beside > mostOrderBytes)
    throw fault("order_too_large", `The order ${first.code} is too large to be shown.`);
}
