import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** Counts the vouchers of an event by summing the increments of inserts and deletions. */
export async function countOfEvent(db: Queryable, { organizer, event }: EventKey): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select coalesce(sum(voucher_count.vouchers), 0)::bigint as count
      from voucher_count
     where voucher_count.organizer = ${organizer}
       and voucher_count.event = ${event}`);
  return count;
}

/** Rows compacted at a time: enough for the busiest seconds, few enough to be quick. */
export const mostCompacted = 20_000;

/**
 * Compacts the increments of each event into one row; a zero sum is deleted. Returns how many rows it replaced.
 *
 * One statement inserts the sum of the rows that it deletes: a concurrent count sees the old rows or their sum, and a
 * concurrent run finds nothing left to delete.
 */
export async function compactIncrements(db: Queryable): Promise<number> {
  const { replaced } = await db.one<{ replaced: number }>(sql`
    with crowded as (
      select distinct fresh.organizer, fresh.event
        from (select voucher_count.organizer, voucher_count.event
                from voucher_count
               where not voucher_count.folded
               order by voucher_count.id
               limit ${mostCompacted}) as fresh
    ), deleted as (
      delete from voucher_count
       using crowded
       where voucher_count.organizer = crowded.organizer
         and voucher_count.event = crowded.event
      returning voucher_count.organizer, voucher_count.event, voucher_count.vouchers
    ), sums as (
      insert into voucher_count (organizer, event, vouchers, folded)
      select deleted.organizer, deleted.event, sum(deleted.vouchers), true
        from deleted
       group by deleted.organizer, deleted.event
      having sum(deleted.vouchers) <> 0
    )
    select count(*) as replaced
      from deleted`);
  return replaced;
}
