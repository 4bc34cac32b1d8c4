import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { conditionsOn, ofEvent, type VoucherFilter } from "./voucher-filter.ts";

/** A column that vouchers are ordered by. */
export interface Order {
  readonly by: Sql;
  readonly type: Sql;
  /** No two vouchers have the same value. */
  readonly isUnique: boolean;
  readonly isDescending: boolean;
}

const byId = { by: sql`voucher.id`, type: sql`bigint`, isUnique: true };

/** The contract's names for what vouchers can be ordered by; `-` before one turns it around. */
const orders: ReadonlyMap<string, Order> = new Map(
  Object.entries({
    id: byId,
    code: { by: sql`voucher.code`, type: sql`text`, isUnique: true },
    max_usages: { by: sql`voucher.max_usages`, type: sql`bigint`, isUnique: false },
    valid_until: { by: sql`voucher.valid_until_at`, type: sql`timestamptz`, isUnique: false },
    value: { by: sql`voucher.value`, type: sql`numeric`, isUnique: false },
  }).flatMap(([name, order]): [string, Order][] => [
    [name, { ...order, isDescending: false }],
    [`-${name}`, { ...order, isDescending: true }],
  ]),
);

/** The known ones of the orders that are asked for, each once; by id unless there is one. */
export function knownOrders(ordering: readonly string[]): readonly Order[] {
  const wanted = [...new Set(ordering)].map((name) => orders.get(name)).filter((order) => order !== undefined);
  return wanted.length === 0 ? [{ ...byId, isDescending: false }] : wanted;
}

/** Where a page begins in an order, or in the reverse, and how long it is. */
export interface Place {
  readonly skip: number;
  readonly limit: number;
  readonly isReversed: boolean;
}

/** Sorts all that the filter leaves; equal ones by the newest. No plan reads the event in the order of an index for it. */
export async function sortedIds(
  db: Queryable,
  filter: VoucherFilter,
  { wanted, skip, limit, isReversed }: Place & { readonly wanted: readonly Order[] },
): Promise<number[]> {
  const terms = [...wanted, { ...byId, isDescending: true }].map(({ by, isDescending }) =>
    directed(by, directionOf({ isDescending, isReversed })),
  );
  return idsOf(
    await db.many(sql`
    with found as materialized (
      select voucher.id, voucher.code, voucher.max_usages, voucher.valid_until_at, voucher.value
        from voucher
       where ${conditionsOn(filter)}
    )
    select voucher.id
      from found as voucher
     order by ${joinSql(terms, ", ")}
     limit ${limit} offset ${skip}`),
  );
}

/** Reads a page by the index of an order. What lies before it is skipped in the index alone. */
export async function pagedIds(
  db: Queryable,
  filter: VoucherFilter,
  { order, ...place }: Place & { readonly order: Order },
): Promise<number[]> {
  if (order.isUnique) return uniqueIds(db, filter, { order, ...place });
  return order.isDescending
    ? descendingIds(db, filter, { order, ...place })
    : ascendingIds(db, filter, { order, ...place });
}

async function uniqueIds(
  db: Queryable,
  filter: VoucherFilter,
  { order: { by, isDescending }, skip, limit, isReversed }: Place & { readonly order: Order },
): Promise<number[]> {
  const direction = directionOf({ isDescending, isReversed });
  return idsOf(
    await db.many(sql`
    select voucher.id
      from (select ${by} as value
              from voucher
             where ${conditionsOn(filter)}
             order by ${directed(by, direction)}
             limit ${limit} offset ${skip}) as page
      join voucher on ${ofEvent(filter)} and ${by} = page.value
     order by ${directed(sql`page.value`, direction)}`),
  );
}

/** The index has equal values in the order of the ids, so it has this order from behind. */
async function descendingIds(
  db: Queryable,
  filter: VoucherFilter,
  { order: { by }, skip, limit, isReversed }: Place & { readonly order: Order },
): Promise<number[]> {
  const direction = directionOf({ isDescending: true, isReversed });
  return idsOf(
    await db.many(sql`
    select voucher.id
      from voucher
     where ${conditionsOn(filter)}
     order by ${directed(by, direction)}, ${directed(byId.by, direction)}
     limit ${limit} offset ${skip}`),
  );
}

/**
 * No index has rising values with falling ids. But at each place of that order there is the same value as where ids rise,
 * too. So an index tells the values of a page; of the first and the last of them only some vouchers are on it, of those
 * between all.
 */
async function ascendingIds(
  db: Queryable,
  filter: VoucherFilter,
  { order, skip, limit, isReversed }: Place & { readonly order: Order },
): Promise<number[]> {
  const { by } = order;
  const all = conditionsOn(filter);
  const [direction, opposite] = isReversed ? (["down", "up"] as const) : (["up", "down"] as const);
  const values = await db.many<{ value: string | null }>(sql`
    select ${by}::text as value
      from voucher
     where ${all}
     order by ${directed(by, direction)}
     limit ${limit} offset ${skip}`);
  const [first, last] = [values[0], values.at(-1)];
  if (first === undefined || last === undefined) return [];
  const { before } = await db.one<{ before: number }>(sql`
    select count(*) as before
      from voucher
     where ${all}
       and ${isAhead(order, first.value, direction)}`);
  // Both orders are named, so that no plan walks through the event by id until it meets the value.
  const equal = (value: string | null, skipped: number) => sql`
      (select voucher.id, ${by} as value
         from voucher
        where ${all} and ${hasValue(order, value)}
        order by ${directed(by, opposite)}, ${directed(byId.by, opposite)}
        limit ${limit} offset ${skipped})`;
  const between = sql`
      (select voucher.id, ${by} as value
         from voucher
        where ${all} and ${isAhead(order, last.value, direction)} and ${isAhead(order, first.value, opposite)})`;
  const parts =
    first.value === last.value
      ? [equal(first.value, skip - before)]
      : [equal(first.value, skip - before), between, equal(last.value, 0)];
  return idsOf(
    await db.many(sql`
    select voucher.id
      from (${joinSql(parts, " union all ")}) as voucher
     order by ${directed(sql`voucher.value`, direction)}, ${directed(byId.by, opposite)}
     limit ${limit}`),
  );
}

/** What comes before a value on the way up or down; a missing value is the highest. */
function isAhead({ by, type }: Order, value: string | null, direction: Direction): Sql {
  if (value === null) return direction === "down" ? sql`false` : sql`${by} is not null`;
  return direction === "down" ? sql`(${by} > ${value}::${type} or ${by} is null)` : sql`${by} < ${value}::${type}`;
}

/** Written as a range: with an equality the order by the value would be none. */
function hasValue({ by, type }: Order, value: string | null): Sql {
  return value === null ? sql`${by} is null` : sql`${by} >= ${value}::${type} and ${by} <= ${value}::${type}`;
}

type Direction = "up" | "down";

function directionOf({ isDescending, isReversed }: { isDescending: boolean; isReversed: boolean }): Direction {
  return isDescending === isReversed ? "up" : "down";
}

function directed(by: Sql, direction: Direction): Sql {
  return direction === "down" ? sql`${by} desc` : by;
}

function idsOf(rows: readonly { readonly id: number }[]): number[] {
  return rows.map(({ id }) => id);
}
