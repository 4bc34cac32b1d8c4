import type { Queryable } from "@tessera/kit/pg/database";
import { eventKey, entityKey as key } from "@tessera/kit/pg/entity-key";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, copyTable, type InputOf, instant, rowsAs, text } from "@tessera/kit/pg/table";
import type { Scope } from "../domain/scope.ts";
import type { ReadClaim } from "../domain/voucher-claims.ts";
import { withKey } from "./with-key.ts";

/** What a voucher may take, as columns. */
export const claimColumns = {
  item: bigint.orNull,
  variation: bigint.orNull,
  quota: bigint.orNull,
  subevent: bigint.orNull,
  amount: bigint,
  validUntil: instant.orNull,
  seat: text.orNull,
};

/** What vouchers take, as their facts say. */
export const voucherClaims = copyTable("voucher_claim", { key, columns: claimColumns });

export type VoucherClaimRow = InputOf<typeof key & typeof claimColumns & { readonly revision: typeof bigint }>;

/** Whether a claim has not expired, by the clock of the database. */
export function isUnexpired(claim: Sql): Sql {
  return sql`(${claim}.valid_until_at is null or ${claim}.valid_until_at >= statement_timestamp())`;
}

const isTaking = (claim: Sql) => sql`${claim}.amount > 0 and ${isUnexpired(claim)}`;
const productsOf = (claim: Sql) => sql`${claim}.item, ${claim}.variation, ${claim}.quota, ${claim}.subevent`;

/**
 * Reads what vouchers of events take, and what some vouchers of one event take each.
 *
 * It is one statement, because a fact that confirms a hold moves its claims: two statements could miss both. Claims of the
 * same products are summed, because an event may have a hundred thousand vouchers. Only of vouchers that are being
 * changed are there several.
 */
export function readClaims(
  db: Queryable,
  scopes: readonly Scope[],
  own: readonly (Scope & { readonly voucher: number })[] = [],
): Promise<(Scope & ReadClaim)[]> {
  const places = rowsAs("wanted", eventKey, scopes);
  const vouchers = rowsAs("wanted", { organizer: text, event: text, voucher: bigint }, own);
  // A batch of new vouchers is newer than all that take something: none of ten thousand is looked for.
  const mayTake = (newest: Sql, table: Sql) => sql`
         wanted.voucher <= (select max(${newest})
                              from ${table} as newest
                             where newest.organizer = ${own[0]?.organizer ?? ""} and newest.event = ${own[0]?.event ?? ""})`;
  const parts = [
    sql`
      select 'sum' as part, claim.organizer, claim.event, null::bigint as voucher, false as is_held, ${productsOf(sql`claim`)},
             sum(claim.amount)::bigint as amount
        from ${places}
        join voucher_claim as claim on claim.organizer = wanted.organizer and claim.event = wanted.event
       where ${isTaking(sql`claim`)}
       group by claim.organizer, claim.event, ${productsOf(sql`claim`)}`,
    sql`
      select 'sum', held.organizer, held.event, null, true, ${productsOf(sql`held`)}, sum(held.amount)::bigint
        from held
       where held.is_alone
       group by held.organizer, held.event, ${productsOf(sql`held`)}`,
    sql`
      select 'several', held.organizer, held.event, held.voucher, true, ${productsOf(sql`held`)}, held.amount
        from held
       where not held.is_alone`,
    sql`
      select 'several', held.organizer, held.event, held.voucher, false, held.kept_item, held.kept_variation,
             held.kept_quota, held.kept_subevent, held.kept_amount
        from held
       where held.is_kept`,
    sql`
      select 'own', wanted.organizer, wanted.event, wanted.voucher, false, ${productsOf(sql`claim`)}, claim.amount
        from ${vouchers}
       cross join lateral (${confirmedOf(sql`wanted`)}) as claim
       where ${isTaking(sql`claim`)}
         and ${mayTake(sql`newest.id`, sql`voucher_claim`)}`,
    sql`
      select 'own', wanted.organizer, wanted.event, wanted.voucher, true, ${productsOf(sql`claim`)}, claim.amount
        from ${vouchers}
        join held_claim as claim
          on claim.organizer = wanted.organizer
             and claim.event = wanted.event
             and claim.voucher = wanted.voucher
       where ${isTaking(sql`claim`)}
         and ${mayTake(sql`newest.voucher`, sql`held_claim`)}`,
  ];
  return db.many<Scope & ReadClaim>(sql`
    with line as materialized (
      select claim.organizer, claim.event, claim.voucher, ${productsOf(sql`claim`)}, claim.amount,
             count(*) over (partition by claim.organizer, claim.event, claim.voucher) as lines
        from ${places}
        join held_claim as claim on claim.organizer = wanted.organizer and claim.event = wanted.event
       where ${isTaking(sql`claim`)}
    ), held as materialized (
      select line.organizer, line.event, line.voucher, ${productsOf(sql`line`)}, line.amount,
             kept.item as kept_item, kept.variation as kept_variation, kept.quota as kept_quota,
             kept.subevent as kept_subevent, kept.amount as kept_amount,
             coalesce(${isTaking(sql`kept`)}, false) as is_kept,
             line.lines = 1 and not coalesce(${isTaking(sql`kept`)}, false) as is_alone
        from line
        left join lateral (${confirmedOf(sql`line`)}) as kept on true
    )
    select taken.part, taken.organizer, taken.event, taken.voucher, taken.is_held as "isHeld", ${productsOf(sql`taken`)},
           taken.amount
      from (${joinSql(parts, " union all ")}) as taken`);
}

/** The confirmed claim of the voucher of a row. */
function confirmedOf(row: Sql): Sql {
  return sql`
    select ${productsOf(sql`voucher_claim`)}, voucher_claim.amount, voucher_claim.valid_until_at
      from voucher_claim
     where ${withKey(sql`voucher_claim.organizer, voucher_claim.event, voucher_claim.id`, sql`${row}.organizer, ${row}.event, ${row}.voucher`)}
     limit 1`;
}

/** What each voucher takes, for a comparison. */
export const claimRows = sql`
  select voucher_claim.organizer, voucher_claim.event, voucher_claim.id, voucher_claim.revision,
         concat_ws('/', coalesce(voucher_claim.item, 0), coalesce(voucher_claim.variation, 0), coalesce(voucher_claim.quota, 0),
                   coalesce(voucher_claim.subevent, 0), voucher_claim.amount,
                   coalesce(extract(epoch from voucher_claim.valid_until_at), 0), voucher_claim.seat) as content
    from voucher_claim`;
