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
 * Finds the order of each position that orders bring. Of two orders the one that the shop changed last has it. The last record of
 * an order in the batch says when that was, and what the order gives away.
 */
function findOwners(
  values: readonly Order[],
  { known, behind }: { readonly known: Known; readonly behind: readonly Behind<Order>[] },
): ReadonlyMap<number, KnownPosition> {
  const last = findLast([...values.map((value) => ({ key: value.data.code, value })), ...behind]);
  const isGivenAway = (id: number, code: string) => last.has(code) && !(last.get(code)?.keeps(id) ?? false);
  const owners = new Map<number, KnownPosition>();
  for (const [id, stored] of known.positions) {
    if (stored.isLeftOut || isGivenAway(id, stored.order)) continue;
    const { changedAt } = last.get(stored.order) ?? stored;
    owners.set(id, { ...stored, changedAt });
  }
  const changedAt = ({ code }: OrderData) => last.get(code)?.changedAt ?? null;
  const newestFirst = values.toSorted((a, b) => (changedAt(b.data) ?? 0) - (changedAt(a.data) ?? 0));
  const claim = ({ isOfLast }: { readonly isOfLast: boolean }) => {
    for (const { data } of newestFirst) {
      const claimed = { order: data.code, changedAt: changedAt(data), isLeftOut: false };
      for (const { id } of data.positions) {
        if (isGivenAway(id, data.code) === isOfLast) continue;
        const owner = owners.get(id);
        if (owner === undefined || (isOfLast && isNewer(claimed, owner))) owners.set(id, claimed);
      }
    }
  };
  claim({ isOfLast: true });
  // What a later record of an order gives away belongs to it until then, if no other order brings it.
  claim({ isOfLast: false });
  return owners;
}

function isNewer({ changedAt: at }: KnownPosition, { changedAt: other }: KnownPosition): boolean {
  return at !== null && (other === null || at > other);
}

interface LastRecord {
  readonly changedAt: number | null;
  keeps(id: number): boolean;
}

/** The last record of each order; undefined: the order is removed. */
function findLast(records: readonly Behind<Order>[]): ReadonlyMap<string, LastRecord | undefined> {
  return new Map(records.map(({ key, value }) => [key, value && toLast(value.data)]));
}

function toLast({ last_modified: changedAt, positions: brought, unread }: OrderData): LastRecord {
  const ids = new Set(brought.map(({ id }) => id));
  return { changedAt, keeps: (id) => ids.has(id) || unread.has(id) };
}
