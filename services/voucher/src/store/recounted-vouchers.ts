import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import { type EntityKey, keysAs } from "./keys.ts";

/** Counts all uses of a voucher, and the uses at the moment of its record. */
const recounted = sql`
  cross join lateral (
    select greatest(0, voucher.base_redeemed + now.redeemed - at_record.redeemed) as redeemed,
           greatest(0, voucher.base_budget_used + now.budget - at_record.budget)::numeric(15, 2) as budget_used,
           now.redeemed - at_record.redeemed as redeemed_more, (now.budget - at_record.budget)::numeric(15, 2) as budget_more
      from (select count(*) filter (where current_use.counts) as redeemed,
                   coalesce(sum(current_use.budget), 0) as budget
              from current_use
             where current_use.organizer = voucher.organizer
               and current_use.event = voucher.event
               and current_use.voucher = voucher.id) as now,
           (select count(*) filter (where contained.counts) as redeemed, coalesce(sum(contained.budget), 0) as budget
              from (select current_use.counts, current_use.budget
                      from current_use
                     where current_use.organizer = voucher.organizer
                       and current_use.event = voucher.event
                       and current_use.voucher = voucher.id
                       and current_use.since_at < voucher.counted_as_of_at
                     union all
                    select former_use.counts, former_use.budget
                      from former_use
                     where former_use.organizer = voucher.organizer
                       and former_use.event = voucher.event
                       and former_use.voucher = voucher.id
                       and former_use.since_at < voucher.counted_as_of_at
                       and former_use.until_at >= voucher.counted_as_of_at) as contained) as at_record) as truth`;

const counted = (redeemed: Sql, budgetUsed: Sql) => sql`
  select voucher.organizer, voucher.event, voucher.id, voucher.revision, concat_ws('/', ${redeemed}, ${budgetUsed}) as content
    from voucher
   ${recounted}`;

/** The stored and the recounted counts of each voucher, for the reconciliation. */
export const countedRows = counted(sql`voucher.redeemed`, sql`voucher.budget_used`);
export const recountedRows = counted(sql`truth.redeemed`, sql`truth.budget_used`);

/** A voucher with its recounted counts. */
export interface Recounted extends EntityKey {
  readonly isRight: boolean;
  readonly redeemed: number;
  readonly budgetUsed: string;
  /** The difference between the uses and the record. */
  readonly redeemedMore: number;
  readonly budgetMore: string;
}

const recountedColumns = sql`
  voucher.organizer, voucher.event, voucher.id, truth.redeemed, truth.budget_used as "budgetUsed",
  truth.redeemed_more as "redeemedMore", truth.budget_more as "budgetMore",
  (voucher.redeemed, voucher.budget_used) = (truth.redeemed, truth.budget_used)
  and coalesce((select (use_sum.redeemed, use_sum.budget_used) = (truth.redeemed_more, truth.budget_more)
                  from use_sum
                 where use_sum.organizer = voucher.organizer
                   and use_sum.event = voucher.event
                   and use_sum.voucher = voucher.id),
               (truth.redeemed_more, truth.budget_more) = (0, 0)) as "isRight"`;

export async function recountVouchers(db: Queryable, keys: readonly EntityKey[]): Promise<Recounted[]> {
  return db.many<Recounted>(sql`
    select ${recountedColumns}
      from ${keysAs("wanted", keys)}
     cross join lateral (
       select voucher.organizer, voucher.event, voucher.id, voucher.redeemed, voucher.budget_used, voucher.base_redeemed,
              voucher.base_budget_used, voucher.counted_as_of_at
         from voucher
        where ${withKey(sql`voucher.organizer, voucher.event, voucher.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1) as voucher
     ${recounted}`);
}

/** Recounts the uses of the next vouchers after a key, in key order. */
export async function recountNext(
  db: Queryable,
  { after, limit }: { readonly after: EntityKey | undefined; readonly limit: number },
): Promise<Recounted[]> {
  const { organizer, event, id } = after ?? { organizer: "", event: "", id: 0 };
  return db.many<Recounted>(sql`
    select ${recountedColumns}
      from (select voucher.organizer, voucher.event, voucher.id, voucher.redeemed, voucher.budget_used,
                   voucher.base_redeemed, voucher.base_budget_used, voucher.counted_as_of_at
              from voucher
             where (voucher.organizer, voucher.event, voucher.id) > (${organizer}, ${event}, ${id})
             order by voucher.organizer, voucher.event, voucher.id
             limit ${limit}) as voucher
     ${recounted}
     order by voucher.organizer, voucher.event, voucher.id`);
}
