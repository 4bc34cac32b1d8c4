import type { Behind } from "@tessera/records/kind";
import { refuseEach } from "@tessera/records/validate";
import type { Known, KnownPosition } from "../domain/known.ts";
import type { OrderData } from "./order-data.ts";

interface Order {
  readonly data: OrderData;
}

const othersTickets =
  "Their ids are those of tickets of other orders: an id of a position is used once in an event, not once in each order.";

/**
 * Finds positions of other orders. What else is wrong was left out before: a position that cannot be taken belongs to no order.
 * A new order whose positions all have ids of other tickets is refused whole: it moves none, and its visitors would have none.
 */
export function refuseTaken<O extends Order>(
  values: readonly O[],
  run: { readonly known: Known; readonly behind: readonly Behind<Order>[] },
): Map<O, Record<string, string[]>> {
  const owners = findOwners(values, run);
  return refuseEach(values, ({ data }, addError) => {
    const ofOthers = [...data.positions.entries()].filter(([, { id }]) => owners.get(id)?.order !== data.code);
    for (const [index, { id }] of ofOthers) addError(`positions.${index}`, `Position ${id} belongs to another order.`);
    const areOtherTickets =
      ofOthers.length > 0 &&
      ofOthers.length === data.positions.length &&
      ofOthers.every(([, { id, secret }]) => owners.get(id)?.secret !== secret);
    if (areOtherTickets && !run.known.orders.has(data.code)) addError("positions", othersTickets);
  });
}

/**
 * Finds the order of each position that orders bring; no two of them bring the same. Of two orders the one that the shop changed
 * last has it. The last record of an order in the batch says when that was, and what the order gives away.
 */
function findOwners(
  values: readonly Order[],
  { known, behind }: { readonly known: Known; readonly behind: readonly Behind<Order>[] },
): ReadonlyMap<number, KnownPosition> {
  const last = findLast([...values.map((value) => ({ key: value.data.code, value })), ...behind]);
  const owners = new Map<number, KnownPosition>();
  for (const [id, stored] of known.positions) {
    const order = last.get(stored.order);
    const isGivenAway = order !== undefined && !order.keeps(id) && !isOlderRemoval(order, stored);
    if (!stored.isLeftOut && !isGivenAway)
      owners.set(id, { ...stored, changedAt: order?.changedAt ?? stored.changedAt });
  }
  for (const { data } of values) {
    const order = last.get(data.code);
    const claim = { order: data.code, changedAt: order?.changedAt ?? null, isLeftOut: false };
    for (const { id, secret } of data.positions) {
      const owner = owners.get(id);
      const claimed = { ...claim, secret };
      // What a later record of an order gives away belongs to it until then, if no other order brings it.
      if (owner === undefined || (order?.keeps(id) === true && isNewer(claimed, owner))) owners.set(id, claimed);
    }
  }
  return owners;
}

function isNewer({ changedAt: at }: KnownPosition, { changedAt: other }: KnownPosition): boolean {
  return at !== null && (other === null || at > other);
}

interface LastRecord {
  /** Null: unknown, or the order is removed. */
  readonly changedAt: number | null;
  /** When the sender removed the order; null: it is not removed, or that is unknown. */
  readonly removedAt: number | null;
  keeps(id: number): boolean;
}

/** The last record of each order. */
function findLast(records: readonly Behind<Order>[]): ReadonlyMap<string, LastRecord> {
  return new Map(records.map((record) => [record.key, toLast(record)]));
}

function toLast({ value, removedAt = null }: Behind<Order>): LastRecord {
  if (value === undefined) return { changedAt: null, removedAt, keeps: () => false };
  const { last_modified: changedAt, positions: brought, unread } = value.data;
  const ids = new Set(brought.map(({ id }) => id));
  return { changedAt, removedAt: null, keeps: (id) => ids.has(id) || unread.has(id) };
}

/** A removal that is older than the stored order removes nothing. */
function isOlderRemoval({ removedAt }: LastRecord, { changedAt }: KnownPosition): boolean {
  return removedAt !== null && changedAt !== null && changedAt > removedAt;
}
