import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { countOfEvent } from "./voucher-counts.ts";
import { conditionsOn, isEverything, ofEvent, type VoucherFilter } from "./voucher-filter.ts";
import { knownOrders, pagedIds, sortedIds } from "./voucher-order.ts";
import { type StoredVoucher, toVoucher, vouchers } from "./vouchers.ts";

/** Counts the vouchers that a filter leaves. */
export async function countVouchers(db: Queryable, filter: VoucherFilter): Promise<number> {
  if (isEverything(filter)) return countOfEvent(db, filter);
  const { active, ...others } = filter;
  // The others have an index.
  if (active === true && isEverything(others))
    return (await countOfEvent(db, filter)) - (await countRows(db, { ...filter, active: false }));
  return countRows(db, filter);
}

async function countRows(db: Queryable, filter: VoucherFilter): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from voucher
     where ${conditionsOn(filter)}`);
  return count;
}

/** Which of the vouchers that were counted are wanted. */
interface Cut {
  readonly ordering: readonly string[];
  readonly limit: number;
  readonly offset: number;
  /** All that the filter leaves. */
  readonly count: number;
}

/** So many are sorted in a moment. */
const fewVouchers = 20_000;

/** Reads one page of vouchers, from its nearer end; equal ones are ordered by the newest. */
export async function pageVouchers(
  db: Queryable,
  filter: VoucherFilter,
  { ordering, offset, count, limit: most }: Cut,
): Promise<StoredVoucher[]> {
  const limit = Math.min(most, count - offset);
  if (limit <= 0) return [];
  const behind = count - offset - limit;
  const isReversed = behind < offset;
  const place = { skip: isReversed ? behind : offset, limit, isReversed };
  const wanted = knownOrders(ordering);
  const [order, ...others] = wanted;
  const isSorted = order === undefined || others.length > 0 || (count <= fewVouchers && !isEverything(filter));
  const ids = isSorted
    ? await sortedIds(db, filter, { wanted, ...place })
    : await pagedIds(db, filter, { order, ...place });
  return readVouchers(db, filter, isReversed ? ids.reverse() : ids);
}

async function readVouchers(db: Queryable, filter: VoucherFilter, ids: readonly number[]): Promise<StoredVoucher[]> {
  const rows = await db.many<Readonly<Record<string, unknown>>>(sql`
    select ${vouchers.selected}
      from voucher
     where ${ofEvent(filter)}
       and voucher.id = any(${ids}::bigint[])`);
  const found = new Map(rows.map(toVoucher).map((voucher) => [voucher.id, voucher]));
  return ids.map((id) => found.get(id)).filter((voucher) => voucher !== undefined);
}
