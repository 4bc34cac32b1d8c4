import type { Queryable } from "@tessera/kit/pg/database";
import type { Canceled } from "@tessera/protos/gen/ticketing/boxoffice/v1/orders";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { compileCompletion } from "@tessera/records/document";
import type { EventSettings } from "@tessera/resources/records/event";
import { orderRecord } from "@tessera/resources/records/order";
import type { Scope } from "../domain/scope.ts";
import { fault } from "../faults.ts";
import { defaultSettings } from "../records/event-settings.ts";
import { findSettings } from "../store/documents.ts";
import {
  type PositionState,
  readItems,
  readOrders,
  readStatesOf,
  type StoredOrder,
  type StoredOrderData,
} from "../store/order-reads.ts";
import { readPrints } from "../store/stored-prints.ts";
import type { BesideOrders, ShownOrder } from "../wire/order-messages.ts";

/** An event whose orders are shown. */
export interface Shop extends Scope {
  readonly settings: EventSettings;
}

/** Finds an event that is not removed. */
export async function findShop(db: Queryable, { organizer, event }: Scope): Promise<Shop | undefined> {
  const found = await findSettings(db, { organizer, event });
  return found && { organizer, event, settings: { ...defaultSettings.data, ...(JSON.parse(found.json) as object) } };
}

/** Of documents, of states of positions, and of prints that are read for an answer. */
const mostReadBytes = 4 * 2 ** 20;

/** Of an answer, and so of one order. A message may have 16 MiB. */
const mostBytes = 14 * 2 ** 20;

/**
 * Reads the first of these orders, as many as an answer has room for, with what they show of their positions. The first one is
 * among them in any case; if its prints have no room, it shows some of them.
 */
export async function readShownOrders(
  db: Queryable,
  { settings, ...scope }: Shop,
  { codes, canceled }: { readonly codes: readonly string[]; readonly canceled: Canceled | undefined },
): Promise<{ readonly orders: readonly ShownOrder[]; readonly beside: BesideOrders }> {
  const stored = await readOrders(db, scope, { codes, mostBytes: mostReadBytes });
  const read = stored.map((order) => toShown(order, canceled));
  const least = read[0]?.data.positions.length ?? 0;
  const states = await readStatesOf(db, scope, { ids: idsOf(read), least, mostBytes: mostReadBytes });
  const stated = cutBefore(read, (id) => !states.has(id));
  const positions = idsOf(stated);
  if (stated[0] !== undefined) leaveOutAnswers(stated[0], states);
  const left = mostBytes - (stated[0] === undefined ? 0 : weigh(stated[0], states));
  if (left < 0) throw fault("order_too_large", `The order ${stated[0]?.code} is too large to be shown.`);
  const { prints, whole } = await readPrints(db, scope, { positions, mostBytes: Math.min(mostReadBytes, left) });
  const printed = new Set(positions.slice(0, whole));
  const orders = cutToRoom(
    cutBefore(stated, (id) => !printed.has(id)),
    states,
  );
  const wanted = orders.flatMap(({ data }) => data.positions.map(({ item }) => item));
  return { orders, beside: { states, items: await readItems(db, scope, [...new Set(wanted)]), prints, settings } };
}

function idsOf(orders: readonly ShownOrder[]): readonly number[] {
  return orders.flatMap(({ data }) => data.positions.map(({ id }) => id));
}

/** Where an order has no room in an answer, its last positions are shown without answers. */
function leaveOutAnswers(order: ShownOrder, states: Map<number, PositionState>): void {
  let over = weigh(order, states) - mostBytes;
  for (const { id } of order.data.positions.toReversed()) {
    const stored = states.get(id);
    if (stored === undefined || (over <= 0 && !stored.isCut)) continue;
    const state = Position.encode({ ...Position.decode(stored.state), answers: [] }).finish();
    const bare = { ...stored, state, gate: null };
    over -= weighState(stored) - weighState(bare);
    states.set(id, bare);
  }
}

/** The orders before one that lacks something of a position, and the first in any case. */
function cutBefore(orders: readonly ShownOrder[], lacks: (position: number) => boolean): readonly ShownOrder[] {
  const at = orders.findIndex(({ data }, index) => index > 0 && data.positions.some(({ id }) => lacks(id)));
  return at < 0 ? orders : orders.slice(0, at);
}

/** The orders that have room beside prints: defaults, which are not stored, may be most of a document. */
function cutToRoom(orders: readonly ShownOrder[], states: BesideOrders["states"]): readonly ShownOrder[] {
  let bytes = mostReadBytes;
  const at = orders.findIndex((order, index) => {
    bytes += weigh(order, states);
    return index > 0 && bytes > mostBytes;
  });
  return at < 0 ? orders : orders.slice(0, at);
}

/** The bytes of an order without its prints. */
function weigh({ json, data }: ShownOrder, states: BesideOrders["states"]): number {
  return data.positions.reduce((sum, { id }) => sum + weighState(states.get(id)), json.length);
}

function weighState(stored: PositionState | undefined): number {
  const given = stored?.gate?.answers.reduce((all, { answer }) => all + (answer?.length ?? 0), 0);
  return (stored?.state.length ?? 0) + (given ?? 0);
}

const complete = compileCompletion(orderRecord) as (data: StoredOrderData) => StoredOrderData;

/** An order with its whole data, without canceled parts that are not wanted. Answers are those of the rows. */
function toShown(order: StoredOrder, wanted: Canceled | undefined): ShownOrder {
  const { fees, positions, ...rest } = complete(order.data);
  const data = {
    ...rest,
    fees: fees.filter(({ canceled }) => !canceled || wanted?.fees === true),
    positions: positions
      .filter(({ canceled }) => !canceled || wanted?.positions === true)
      .map((position) => ({ ...position, answers: undefined })),
  };
  return { ...order, data, json: Buffer.from(JSON.stringify(data)) };
}
