import type { Behind } from "@tessera/records/kind";
import { refuseEach } from "@tessera/records/validate";
import type { Known, KnownPosition } from "../domain/known.ts";
import type { OrderData } from "./order-data.ts";

interface Order {
  readonly data: OrderData;
}

/** Finds positions of other orders. What else is wrong was left out before: a position that cannot be taken belongs to no order. */
export function refuseTaken<O extends Order>(
  values: readonly O[],
  run: { readonly known: Known; readonly behind: readonly Behind<Order>[] },
): Map<O, Record<string, string[]>> {
  const owners = findOwners(values, run);
  return refuseEach(values, ({ data }, addError) => {
    for (const [index, { id }] of data.positions.entries()) {
      if (owners.get(id)?.order !== data.code)
        addError(`positions.${index}`, `Position ${id} belongs to another order.`);
    }
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
    const claimed = { order: data.code, changedAt: order?.changedAt ?? null, isLeftOut: false };
    for (const { id } of data.positions) {
      const owner = owners.get(id);
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
