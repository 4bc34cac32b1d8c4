import type { Queryable } from "@tessera/kit/pg/database";
import { alongIndexes, type Cut, readPage, type Source, sortPage, type Term, turned } from "@tessera/kit/pg/page";
import { sql } from "@tessera/kit/pg/sql";
import { type StoredVoucher, toVoucher, vouchers } from "./stored-vouchers.ts";
import { countOfEvent } from "./voucher-counts.ts";
import { conditionsOn, isEverything, ofEvent, type VoucherFilter } from "./voucher-filter.ts";

const byId: Term = { by: sql`voucher.id` };

/** The API's sort keys of vouchers; a `-` before a key reverses it. */
const orders: ReadonlyMap<string, Term> = new Map(
  Object.entries<Term>({
    id: byId,
    code: { by: sql`voucher.code` },
    max_usages: { by: sql`voucher.max_usages` },
    valid_until: { by: sql`voucher.valid_until_at`, isOptional: true },
    value: { by: sql`voucher.value`, isOptional: true },
  }).flatMap(([name, term]): [string, Term][] => [
    [name, term],
    [`-${name}`, turned(term)],
  ]),
);

/** Counts the vouchers that a filter leaves. */
export async function countVouchers(db: Queryable, filter: VoucherFilter): Promise<number> {
  if (isEverything(filter)) return countOfEvent(db, filter);
  const { active, ...others } = filter;
  // Inactive vouchers have an index; active ones are the difference.
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

/** This many are sorted in a moment. */
const fewVouchers = 20_000;

/** Reads one page of the counted vouchers; ties are broken by the newest. */
export async function pageVouchers(
  db: Queryable,
  filter: VoucherFilter,
  { ordering, ...cut }: Cut & { readonly ordering: readonly string[]; readonly count: number },
): Promise<StoredVoucher[]> {
  const wanted = [...new Set(ordering)].flatMap((name) => orders.get(name) ?? []);
  const terms = wanted.length === 0 ? [byId] : [...wanted, turned(byId)];
  const source: Source = { id: byId.by, from: sql`voucher`, where: conditionsOn(filter), terms };
  const read = () => readPage(db, [{ sources: [source] }], cut);
  if (cut.count <= fewVouchers && !isEverything(filter))
    return readVouchers(db, filter, await sortPage(db, source, cut));
  return readVouchers(db, filter, await (wanted.length > 1 ? read() : alongIndexes(db, read)));
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
