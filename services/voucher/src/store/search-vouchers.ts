import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { SearchPlan } from "../domain/search-text.ts";
import { conditionsOn, ofEvent, type VoucherFilter } from "./voucher-filter.ts";
import { countVouchers } from "./voucher-pages.ts";

/** The most vouchers that a search finds. */
const mostFound = 10_000;

/** So many vouchers are read one by one: those that the filter leaves, or the newest, for a text that no index can find. */
const mostReadThrough = 25_000;

/** As the index has it. */
const searched = sql`(voucher.code || E'\\n' || voucher.tag || E'\\n' || voucher.comment) collate "default"`;

/** What conditions on vouchers may use. */
const columns = sql`
             voucher.id, voucher.code, voucher.max_usages, voucher.redeemed, voucher.valid_until_at, voucher.block_quota,
             voucher.allow_ignore_quota, voucher.price_mode, voucher.value, voucher.item, voucher.variation, voucher.quota,
             voucher.tag, voucher.comment, voucher.subevent`;

/** Finds vouchers that a filter leaves and that have a text in code, tag or comment, in any letter case. */
export async function searchVouchers(db: Queryable, filter: VoucherFilter, plan: SearchPlan): Promise<number[]> {
  const isRead = !plan.isIndexed || (await countVouchers(db, filter)) <= mostReadThrough;
  const { ids } = await db.one<{ ids: number[] }>(isRead ? readThrough(filter, plan) : readIndex(filter, plan));
  return ids;
}

function readThrough(filter: VoucherFilter, plan: SearchPlan): Sql {
  const newest = sql`${ofEvent(filter)}
       order by voucher.organizer desc, voucher.event desc, voucher.id desc
       limit ${mostReadThrough}`;
  return sql`
    with read as materialized (
      select voucher.organizer, voucher.event, ${columns}
        from voucher
       where ${plan.isIndexed ? conditionsOn(filter) : newest}
    )
    select array(select voucher.id
                   from read as voucher
                  where ${conditionsOn(filter)} and ${hasText(plan)}
                  order by voucher.id desc
                  limit ${mostFound}) as ids`;
}

/** What is not a column itself leads to no index: so no plan avoids that of texts for an early end. */
function readIndex(filter: VoucherFilter, plan: SearchPlan): Sql {
  return sql`
    select array(select voucher.id
                   from (select voucher.organizer || '' as organizer, voucher.event || '' as event, ${columns}
                           from voucher
                          where ${hasText(plan)}) as voucher
                  where ${conditionsOn(filter)}
                  limit ${mostFound}) as ids`;
}

function hasText({ patterns, hasLineBreak }: SearchPlan): Sql {
  const matching = (texts: readonly Sql[]) =>
    joinSql(
      texts.flatMap((text) => patterns.map((pattern) => sql`${text} ilike ${pattern}`)),
      " or ",
    );
  if (!hasLineBreak) return sql`(${matching([searched])})`;
  const fields = [sql`voucher.code`, sql`voucher.tag`, sql`voucher.comment`];
  return sql`(${matching([searched])}) and (${matching(fields.map((field) => sql`${field} collate "default"`))})`;
}
