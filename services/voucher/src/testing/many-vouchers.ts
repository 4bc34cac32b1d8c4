import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { place } from "./start-voucher.ts";

/** Stores vouchers quickly, with ids from `first` on. Many share a value, an end of validity or usages. */
export async function addVouchers(
  db: Queryable,
  { first = 1, count, event = place.event }: { first?: number; count: number; event?: string },
): Promise<void> {
  await db.run(sql`
    insert into voucher (organizer, event, id, revision, code, max_usages, min_usages, valid_until_at, block_quota,
                         allow_ignore_quota, price_mode, value, tag, comment, show_hidden_items, all_addons_included,
                         all_bundles_included, created_at, redeemed, budget_used, base_redeemed, base_budget_used)
    select ${place.organizer}, ${event}, made.id, 1, upper(md5('x' || made.id)), 1 + (made.id % 700 = 0)::int * (made.id % 5), 1,
           case when made.id % 3 > 0 then timestamptz '2026-01-01' + made.id % 7 * interval '1 year' end,
           made.id % 250 = 0, made.id % 400 = 0, case when made.id % 300 = 0 then 'percent' else 'none' end,
           case when made.id % 4 > 0 then made.id * 7919 % 11 end, 'tag ' || made.id % 90,
           case when made.id % 1000 = 0 then 'for the press' else '' end, true, false, false, now(), 0, 0, 0, 0
      from generate_series(${first}::bigint, ${first + count - 1}::bigint) as made (id)`);
}
