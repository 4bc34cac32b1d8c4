import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { typography } from "@tessera/values";
import type { SearchPlan } from "../domain/search-text.ts";
import { conditionsOn, ofEvent, type VoucherFilter } from "./voucher-filter.ts";
import { countVouchers } from "./voucher-pages.ts";

const mostFound = 10_000;

/** This many vouchers are tested one by one: all of the filter, or the newest, for a text without trigrams. */
const mostReadThrough = 25_000;

/** The expression of the trigram index. */
const searched = sql`(voucher.code || E'\\n' || voucher.tag || E'\\n' || voucher.comment) collate "default"`;

/** The columns that conditions may use. */
const columns = sql`
             voucher.id, voucher.code, voucher.max_usages, voucher.redeemed, voucher.valid_until_at, voucher.block_quota,
             voucher.allow_ignore_quota, voucher.price_mode, voucher.value, voucher.item, voucher.variation, voucher.quota,
             voucher.tag, voucher.comment, voucher.subevent`;

/** Finds vouchers of a filter with a text in code, tag or comment, regardless of letter case and typography. */
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

/** Conditions are on expressions, not on columns, so that the planner uses the trigram index. */
function readIndex(filter: VoucherFilter, plan: SearchPlan): Sql {
  return sql`
    select array(select voucher.id
                   from (select voucher.organizer || '' as organizer, voucher.event || '' as event, ${columns}
                           from voucher
                          where ${hasText(plan)}) as voucher
                  where ${conditionsOn(filter)}
                  limit ${mostFound}) as ids`;
}

function hasText({ patterns, loosely, hasLineBreak }: SearchPlan): Sql {
  const matching = (texts: readonly Sql[], wanted: readonly string[]) =>
    joinSql(
      texts.flatMap((text) => wanted.map((pattern) => sql`${text} ilike ${pattern}`)),
      " or ",
    );
  const fields = [sql`voucher.code`, sql`voucher.tag`, sql`voucher.comment`].map(
    (field) => sql`${field} collate "default"`,
  );
  const folded = (hasLineBreak ? fields : [searched]).map(
    (text) => sql`translate(${text}, ${typography.variants}, ${typography.usual})`,
  );
  return sql`(${matching([searched], loosely)}) and (${matching(folded, patterns)})`;
}
