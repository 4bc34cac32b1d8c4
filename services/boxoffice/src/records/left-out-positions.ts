import { findErasedUntil } from "@tessera/events/personal-data/erased-until";
import type { Tx } from "@tessera/kit/pg/database";
import { Position } from "@tessera/protos/gen/ticketing/boxoffice/v1/positions";
import { takenAs } from "../domain/availability.ts";
import type { Known } from "../domain/known.ts";
import type { Scope } from "../domain/scope.ts";
import { noteLost } from "../store/lost-positions.ts";
import * as positions from "../store/positions.ts";
import * as orders from "../store/stored-orders.ts";
import { toOrder } from "../wire/position-message.ts";
import { placedAtOf } from "./erase-orders.ts";
import type { OrderData } from "./order-data.ts";

interface Order {
  readonly data: OrderData;
  readonly document: string;
}

/** The positions of a stored order that its record leaves out. */
export function findMissing(data: OrderData, stored: Known["orders"]): number[] {
  return findUnbrought(data, stored).filter((id) => !data.unread.has(id));
}

/** These, and the positions that could not be read. */
function findUnbrought({ code, positions: sent }: OrderData, stored: Known["orders"]): number[] {
  const had = stored.get(code);
  if (had === undefined) return [];
  const has = new Set(sent.map((position) => position.id));
  return had.filter((id) => !has.has(id));
}

/** Finds positions whose id belongs to another order: its code, and their ids. */
function findTaken(
  brought: readonly { readonly id: number; readonly orderCode: string }[],
  { positions: known }: Known,
): { readonly code: string; readonly id: number }[] {
  return brought.flatMap(({ id, orderCode }) => {
    const code = known.get(id)?.order;
    return code === undefined || code === orderCode ? [] : [{ code, id }];
  });
}

/**
 * Adds the positions to orders that their records leave out and no other order takes over, as canceled: shops cancel
 * positions by leaving them out. They keep their scans, which count again if the position comes back, here or in
 * another order. Unreadable positions stay unchanged.
 */
export async function keepLeftOut<O extends Order>(
  tx: Tx,
  scope: Scope,
  { values, known, sent }: { readonly values: readonly O[]; readonly known: Known; readonly sent: ReadonlySet<number> },
): Promise<{ readonly values: readonly O[]; readonly rows: readonly positions.PositionRow[] }> {
  const orderOf = new Map(
    values.flatMap(({ data }) =>
      findUnbrought(data, known.orders).flatMap((id) => (sent.has(id) ? [] : [[id, data] as const])),
    ),
  );
  if (orderOf.size === 0) return { values, rows: [] };
  const ids = [...orderOf.keys()];
  const codes = [...new Set([...orderOf.values()].map(({ code }) => code))];
  const documents = Map.groupBy(await orders.findPositionDocuments(tx, scope, { codes, ids }), ({ code }) => code);
  const stored = await positions.readRows(tx, scope, ids);
  return {
    values: values.map((value) => withPositions(value, documents.get(value.data.code) ?? [])),
    rows: stored.flatMap((row) => {
      const order = orderOf.get(row.id);
      if (order === undefined) return [];
      return [order.unread.has(row.id) ? withOrder(row, order) : toLeftOut(row, order)];
    }),
  };
}

function withPositions<O extends Order>(value: O, kept: readonly orders.PositionDocument[]): O {
  if (kept.length === 0) return value;
  const document = JSON.parse(value.document) as { readonly positions: readonly object[] };
  const added = kept.map((position) => {
    const before = JSON.parse(position.document) as { readonly id: number };
    return value.data.unread.has(before.id) ? before : { ...before, canceled: true };
  });
  return { ...value, document: JSON.stringify({ ...document, positions: [...document.positions, ...added] }) };
}

/** The order is part of the state, and may have changed. */
function withOrder(row: positions.PositionRow, order: OrderData): positions.PositionRow {
  const state = { ...Position.decode(row.state), canceled: row.canceled, order: toOrder(order) };
  const takes = takenAs({ canceled: row.canceled, orderStatus: order.status });
  return { ...row, takenAs: takes, changedAt: order.last_modified, state: Position.encode(state).finish() };
}

function toLeftOut(row: positions.PositionRow, order: OrderData): positions.PositionRow {
  return { ...withOrder({ ...row, canceled: true }, order), leftOut: true };
}

/**
 * Removes positions that other orders take over from the documents of their former orders. If data of the event was
 * erased, their age is noted: the record of the new order must not bring it back.
 */
export async function dropTakenOver(
  tx: Tx,
  scope: Scope,
  { rows, known }: { readonly rows: readonly positions.PositionRow[]; readonly known: Known },
): Promise<void> {
  const taken = findTaken(rows, known);
  if (taken.length === 0) return;
  const ids = taken.map(({ id }) => id);
  if ((await findErasedUntil(tx, scope)).size > 0)
    await noteAges(tx, scope, await positions.readStates(tx, scope, ids));
  await orders.dropPositions(tx, scope, { codes: [...new Set(taken.map(({ code }) => code))], ids });
}

/** Notes the age of positions of an event with erased data: another order may bring them again. */
export async function noteAges(
  tx: Tx,
  scope: Scope,
  states: readonly { readonly id: number; readonly state: Uint8Array }[],
): Promise<void> {
  const lost = states.flatMap(({ id, state }) => {
    const placedAt = placedAtOf(state);
    return placedAt === null ? [] : [{ id, placedAt }];
  });
  await noteLost(tx, scope, lost);
}
