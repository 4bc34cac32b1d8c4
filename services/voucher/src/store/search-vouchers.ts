import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import type { SearchPlan } from "../domain/search-text.ts";
import { countVouchers } from "./list-vouchers.ts";
import { conditionsOn, isEverything, ofEvent, type VoucherFilter } from "./voucher-filter.ts";
import { vouchers } from "./vouchers.ts";

/** The most vouchers that a search finds. */
const mostFound = 10_000;

/** A text that no index can find is looked for in so many of the newest vouchers. */
const mostReadThrough = 25_000;

/** So many of the newest vouchers, and of the oldest, are read through first. They tell how frequent a text is. */
const sampled = 2500;

/** What one in so many of them has is found in the newest vouchers before the index would be through with its many entries. */
const frequentOneIn = 10;

/** The newest vouchers that are read through for what is frequent. */
const mostReadInOrder = 200_000;

/** So many vouchers that other conditions leave are read through in a moment. */
const fewVouchers = 20_000;

/** As the index has it. */
const searched = sql`(voucher.code || E'\\n' || voucher.tag || E'\\n' || voucher.comment) collate "default"`;

const newestFirst = sql`voucher.organizer desc, voucher.event desc, voucher.id desc`;

/** Finds the newest vouchers that a filter leaves and that have a text in code, tag or comment, in any letter case. */
export async function searchVouchers(db: Queryable, filter: VoucherFilter, plan: SearchPlan): Promise<number[]> {
  if (plan.isIndexed && !isEverything(filter) && (await countVouchers(db, filter)) <= fewVouchers)
    return searchAmong(db, filter, plan);
  const newest = plan.isIndexed ? sampled : mostReadThrough;
  const { ids, hits, isPartial } = await db.one<{ ids: number[]; hits: number; isPartial: boolean }>(sql`
    with newest as materialized (
      select ${vouchers.selected}
        from voucher
       where ${ofEvent(filter)}
       order by ${newestFirst}
       limit ${newest}
    ), hit as materialized (
      select ${vouchers.selected}
        from newest as voucher
       where ${hasText(plan)}
    ), oldest as materialized (
      select ${vouchers.selected}
        from voucher
       where ${ofEvent(filter)}
       order by voucher.organizer, voucher.event, voucher.id
       limit ${plan.isIndexed ? sampled : 0}
    )
    select array(select voucher.id
                   from hit as voucher
                  where ${conditionsOn(filter)}
                  order by voucher.id desc
                  limit ${mostFound}) as ids,
           greatest((select count(*) from hit),
                    (select count(*) from oldest as voucher where ${hasText(plan)})) as hits,
           (select count(*) from newest) = ${newest} as "isPartial"`);
  if (!isPartial || !plan.isIndexed) return ids;
  return hits * frequentOneIn < newest ? searchIndex(db, filter, plan) : searchInOrder(db, filter, plan);
}

/** The index is read apart from the order, so that no plan avoids it for an early end. */
async function searchIndex(db: Queryable, filter: VoucherFilter, plan: SearchPlan): Promise<number[]> {
  const matches = plan.patterns.map((pattern) => sql`${searched} ilike ${pattern}`);
  const { ids } = await db.one<{ ids: number[] }>(sql`
    with found as materialized (
      select voucher.id
        from voucher
       where ${conditionsOn(filter)}
         and (${joinSql(matches, " or ")})
         ${withinFields(plan)}
    )
    select array(select found.id from found order by found.id desc limit ${mostFound}) as ids`);
  return ids;
}

/** Without a limit for what is read, a plan might read the whole event before it sorts. */
async function searchInOrder(db: Queryable, filter: VoucherFilter, plan: SearchPlan): Promise<number[]> {
  const rows = await db.many<{ id: number }>(sql`
    select voucher.id
      from (select ${vouchers.selected}
              from voucher
             where ${ofEvent(filter)}
             order by ${newestFirst}
             limit ${mostReadInOrder}) as voucher
     where ${conditionsOn(filter)}
       and ${hasText(plan)}
     order by ${newestFirst}
     limit ${mostFound}`);
  return rows.length === mostFound ? rows.map(({ id }) => id) : searchIndex(db, filter, plan);
}

async function searchAmong(db: Queryable, filter: VoucherFilter, plan: SearchPlan): Promise<number[]> {
  const { ids } = await db.one<{ ids: number[] }>(sql`
    with few as materialized (
      select ${vouchers.selected}
        from voucher
       where ${conditionsOn(filter)}
    )
    select array(select voucher.id from few as voucher where ${hasText(plan)} order by voucher.id desc) as ids`);
  return ids;
}

/** Written so that no plan reads the index. */
function hasText(plan: SearchPlan): Sql {
  const matches = plan.patterns.map((pattern) => sql`lower(${searched}) like lower(${pattern})`);
  return sql`(${joinSql(matches, " or ")}) ${withinFields(plan)}`;
}

function withinFields({ patterns, hasLineBreak }: SearchPlan): Sql {
  if (!hasLineBreak) return sql``;
  const fields = [sql`voucher.code`, sql`voucher.tag`, sql`voucher.comment`];
  const matches = fields.flatMap((field) =>
    patterns.map((pattern) => sql`${field} collate "default" ilike ${pattern}`),
  );
  return sql`and (${joinSql(matches, " or ")})`;
}
