import { type EntityKey, eventKey, entityKey as key, keysAs, nameOf } from "@tessera/events/entity-key";
import type { Queryable } from "@tessera/kit/pg/database";
import { joinSql, type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, copyTable, type InputOf, instant, rowsAs, text } from "@tessera/kit/pg/table";
import { isPlacedIn, withKey } from "@tessera/kit/pg/with-key";
import { firstIdMadeHere, type Instant } from "@tessera/values";
import type { Taken } from "../domain/availability.ts";
import type { Scope } from "../domain/scope.ts";
import type { ReadClaim } from "../domain/voucher-claims.ts";
import { ofNoVersion, recountUses } from "./voucher-use-rows.ts";

export const claimColumns = {
  item: bigint.orNull,
  variation: bigint.orNull,
  quota: bigint.orNull,
  subevent: bigint.orNull,
  validUntil: instant.orNull,
  seat: text.orNull,
};

const toldColumns = {
  ...claimColumns,
  maxUsages: bigint.orNull,
  blocks: boolean,
  recordedUses: bigint,
  countedAsOf: instant.orNull,
};

/** The claims of vouchers, as their facts say. Except the column `uses`, which positions change. */
export const voucherClaims = copyTable("voucher_claim", { key, columns: toldColumns });

export type VoucherClaimRow = InputOf<typeof key & typeof toldColumns & { readonly revision: typeof bigint }>;

/** Stores the claims of vouchers, as newer facts say, and counts again what positions add to another record. */
export async function putClaims(tx: Queryable, claims: readonly VoucherClaimRow[]): Promise<void> {
  const imported = claims.filter(({ id }) => id < firstIdMadeHere);
  const before = await lockKnown(tx, imported);
  await voucherClaims.upsertNewer(tx, claims);
  const moved = imported.filter((claim) => {
    const { countedAsOf = null, recordedUses = 0 } = before.get(nameOf(claim)) ?? {};
    return (claim.countedAsOf ?? null) !== countedAsOf || claim.recordedUses !== recordedUses;
  });
  if (moved.length > 0) await recountUses(tx, moved);
}

type KnownRecord = EntityKey & { readonly countedAsOf: Instant | null; readonly recordedUses: number };

/** Locks claims in their order, and reads the records of their vouchers. */
async function lockKnown(tx: Queryable, claims: readonly EntityKey[]): Promise<Map<string, KnownRecord>> {
  if (claims.length === 0) return new Map();
  const rows = await tx.many<KnownRecord>(sql`
    select kept.organizer, kept.event, kept.id, kept.counted_as_of_at as "countedAsOf", kept.recorded_uses as "recordedUses"
      from ${keysAs("wanted", claims)}
     cross join lateral (
       select voucher_claim.organizer, voucher_claim.event, voucher_claim.id, voucher_claim.counted_as_of_at,
              voucher_claim.recorded_uses
         from voucher_claim
        where ${withKey(sql`voucher_claim.organizer, voucher_claim.event, voucher_claim.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1
          for no key update) as kept`);
  return new Map(rows.map((row) => [nameOf(row), row]));
}

/** Locks the claims of these vouchers that a fact has set, and that were not deleted since. */
export async function lockTold(tx: Queryable, vouchers: readonly EntityKey[]): Promise<EntityKey[]> {
  return tx.many<EntityKey>(sql`
    select told.organizer, told.event, told.id
      from ${keysAs("wanted", vouchers)}
     cross join lateral (
       select voucher_claim.organizer, voucher_claim.event, voucher_claim.id
         from voucher_claim
        where voucher_claim.revision > 0
          and ${withKey(sql`voucher_claim.organizer, voucher_claim.event, voucher_claim.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1
          for no key update) as told`);
}

/** Clears the claims of these deleted vouchers; positions may still name them. */
export async function forgetClaims(tx: Queryable, vouchers: readonly EntityKey[]): Promise<void> {
  if (vouchers.length === 0) return;
  await tx.run(sql`
    update voucher_claim
       set max_usages = null,
           blocks = false,
           recorded_uses = 0,
           counted_as_of_at = null,
           seat = null,
           revision = 0,
           known_columns = ${ofNoVersion}
      from ${keysAs("gone", vouchers)}
     where voucher_claim.organizer = gone.organizer
       and voucher_claim.event = gone.event
       and voucher_claim.id = gone.id`);
  await recountUses(tx, vouchers);
  await tx.run(sql`
    with unused as materialized (
      select found.ctid
        from ${keysAs("gone", vouchers)}
       cross join lateral (
         select voucher_claim.ctid, voucher_claim.uses
           from voucher_claim
          where ${withKey(sql`voucher_claim.organizer, voucher_claim.event, voucher_claim.id`, sql`gone.organizer, gone.event, gone.id`)}
          limit 1
            for update) as found
       where found.uses = 0
    )
    delete from voucher_claim where ${isPlacedIn(sql`voucher_claim`, sql`unused`)}`);
}

const forgottenAtOnce = 5000;

/** Clears the claims that a rebuild did not publish; returns how many. */
export async function forgetOlderClaims(tx: Queryable, revision: number): Promise<number> {
  for (let forgotten = 0; ; ) {
    const older = await tx.many<EntityKey>(sql`
      select voucher_claim.organizer, voucher_claim.event, voucher_claim.id
        from voucher_claim
       where voucher_claim.revision > 0
         and voucher_claim.revision < ${revision}
       limit ${forgottenAtOnce}`);
    if (older.length === 0) return forgotten;
    await forgetClaims(tx, older);
    forgotten += older.length;
  }
}

/** Whether a claim has not expired, by the clock of the database. */
export function isUnexpired(claim: Sql): Sql {
  return sql`(${claim}.valid_until_at is null or ${claim}.valid_until_at >= statement_timestamp())`;
}

/** The uses of a voucher: never below zero, as a record may have stated too little. */
const usedOf = (claim: Sql) => sql`greatest(${claim}.recorded_uses + ${claim}.uses, 0)`;

/** Whether a voucher can still be used: the predicate of the indexes. */
export const isUsable = (claim: Sql) => sql`${claim}.max_usages > ${usedOf(claim)}`;

const isTaking = (claim: Sql) => sql`${claim}.blocks and ${isUsable(claim)} and ${isUnexpired(claim)}`;
const amountOf = (claim: Sql) => sql`(${claim}.max_usages - ${usedOf(claim)})`;

/** The same for a held claim, whose voucher has the uses of its own claim. */
const heldAmountOf = (claim: Sql, kept: Sql) => sql`(${claim}.usages - coalesce(${usedOf(kept)}, 0))`;
const isTakingHeld = (claim: Sql, kept: Sql) => sql`${heldAmountOf(claim, kept)} > 0 and ${isUnexpired(claim)}`;
const productsOf = (claim: Sql) => sql`${claim}.item, ${claim}.variation, ${claim}.quota, ${claim}.subevent`;

type Row = Scope &
  Omit<ReadClaim, "part"> &
  Pick<Taken, "takenAs"> & { readonly part: ReadClaim["part"] | "uses" | "taken" };

/** A snapshot of the taken capacity of events. */
export interface Ledger {
  readonly claims: readonly (Scope & ReadClaim)[];
  /** The uses of each requested voucher. */
  readonly uses: ReadonlyMap<number, number>;
  /** By positions. */
  readonly taken: readonly (Scope & Taken)[];
}

/**
 * Reads what vouchers and positions of events take, and the claims of some vouchers of one event.
 *
 * One statement, because a fact that confirms a hold moves its claims, and a stored position takes over from its
 * voucher: two statements could miss both, or see both. Claims of the same products are summed, because an event may
 * have a hundred thousand vouchers. Only vouchers that are being changed have several claims.
 */
export async function readLedger(
  db: Queryable,
  scopes: readonly Scope[],
  own: readonly (Scope & { readonly voucher: number })[] = [],
): Promise<Ledger> {
  const places = rowsAs("wanted", eventKey, scopes);
  const vouchers = rowsAs("wanted", { organizer: text, event: text, voucher: bigint }, own);
  // New vouchers have ids above all claims: none of a batch of ten thousand is looked up.
  const mayTake = (newest: Sql, table: Sql) => sql`
         wanted.voucher <= (select max(${newest})
                              from ${table} as newest
                             where newest.organizer = ${own[0]?.organizer ?? ""} and newest.event = ${own[0]?.event ?? ""})`;
  const claim = sql`claim`;
  const kept = sql`kept`;
  const parts = [
    sql`
      select 'sum' as part, claim.organizer, claim.event, null::bigint as voucher, false as is_held, ${productsOf(claim)},
             sum(${amountOf(claim)})::bigint as amount, null::text as taken_as
        from ${places}
        join voucher_claim as claim on claim.organizer = wanted.organizer and claim.event = wanted.event
       where ${isTaking(claim)}
       group by claim.organizer, claim.event, ${productsOf(claim)}`,
    sql`
      select 'sum', held.organizer, held.event, null, true, ${productsOf(sql`held`)}, sum(held.amount)::bigint, null
        from held
       where held.is_alone
       group by held.organizer, held.event, ${productsOf(sql`held`)}`,
    sql`
      select 'several', held.organizer, held.event, held.voucher, true, ${productsOf(sql`held`)}, held.amount, null
        from held
       where not held.is_alone`,
    sql`
      select 'several', held.organizer, held.event, held.voucher, false, held.kept_item, held.kept_variation,
             held.kept_quota, held.kept_subevent, held.kept_amount, null
        from held
       where held.is_kept`,
    sql`
      select 'own', wanted.organizer, wanted.event, wanted.voucher, false, ${productsOf(claim)}, ${amountOf(claim)}, null
        from ${vouchers}
       cross join lateral (${confirmedOf(sql`wanted`)}) as claim
       where ${isTaking(claim)}
         and ${mayTake(sql`newest.id`, sql`voucher_claim`)}`,
    sql`
      select 'own', wanted.organizer, wanted.event, wanted.voucher, true, ${productsOf(claim)}, ${heldAmountOf(claim, kept)}, null
        from ${vouchers}
        join held_claim as claim
          on claim.organizer = wanted.organizer
             and claim.event = wanted.event
             and claim.voucher = wanted.voucher
        left join lateral (${confirmedOf(sql`wanted`)}) as kept on true
       where ${isTakingHeld(claim, kept)}
         and ${mayTake(sql`newest.voucher`, sql`held_claim`)}`,
    sql`
      select 'uses', wanted.organizer, wanted.event, wanted.voucher, false, null, null, null, null, ${usedOf(claim)}, null
        from ${vouchers}
       cross join lateral (${confirmedOf(sql`wanted`)}) as claim
       where ${mayTake(sql`newest.id`, sql`voucher_claim`)}`,
    sql`
      select 'taken', position.organizer, position.event, null, false, position.item, position.variation, null,
             position.subevent, position.positions, position.taken_as
        from ${places}
        join taken_capacity as position on position.organizer = wanted.organizer and position.event = wanted.event`,
  ];
  const rows = await db.many<Row>(sql`
    with line as materialized (
      select claim.organizer, claim.event, claim.voucher, ${productsOf(claim)}, ${heldAmountOf(claim, kept)} as amount,
             kept.item as kept_item, kept.variation as kept_variation, kept.quota as kept_quota,
             kept.subevent as kept_subevent, ${amountOf(kept)} as kept_amount, coalesce(${isTaking(kept)}, false) as is_kept,
             count(*) over (partition by claim.organizer, claim.event, claim.voucher) as lines
        from ${places}
        join held_claim as claim on claim.organizer = wanted.organizer and claim.event = wanted.event
        left join lateral (${confirmedOf(claim)}) as kept on true
       where ${isTakingHeld(claim, kept)}
    ), held as materialized (
      select line.organizer, line.event, line.voucher, ${productsOf(sql`line`)}, line.amount, line.kept_item, line.kept_variation,
             line.kept_quota, line.kept_subevent, line.kept_amount, line.is_kept,
             line.lines = 1 and not line.is_kept as is_alone
        from line
    )
    select read.part, read.organizer, read.event, read.voucher, read.is_held as "isHeld", ${productsOf(sql`read`)},
           read.amount, read.taken_as as "takenAs"
      from (${joinSql(parts, " union all ")}) as read`);
  return {
    claims: rows.flatMap((row) => (row.part === "uses" || row.part === "taken" ? [] : [{ ...row, part: row.part }])),
    uses: new Map(rows.flatMap(({ part, voucher, amount }) => (part === "uses" ? [[voucher ?? 0, amount]] : []))),
    taken: rows.flatMap((row) => (row.part === "taken" ? [toTaken(row)] : [])),
  };
}

function toTaken({ organizer, event, subevent, item, variation, takenAs, amount }: Row): Scope & Taken {
  return { organizer, event, subevent, item: item ?? 0, variation, takenAs, positions: amount };
}

/** The confirmed claim of a row's voucher. */
function confirmedOf(row: Sql): Sql {
  return sql`
    select ${productsOf(sql`voucher_claim`)}, voucher_claim.max_usages, voucher_claim.blocks, voucher_claim.recorded_uses,
           voucher_claim.uses, voucher_claim.valid_until_at
      from voucher_claim
     where ${withKey(sql`voucher_claim.organizer, voucher_claim.event, voucher_claim.id`, sql`${row}.organizer, ${row}.event, ${row}.voucher`)}
     limit 1`;
}

/** The claim of each voucher, for the reconciliation. */
export const claimRows = sql`
  select voucher_claim.organizer, voucher_claim.event, voucher_claim.id, voucher_claim.revision,
         concat_ws('/', coalesce(voucher_claim.item, 0), coalesce(voucher_claim.variation, 0), coalesce(voucher_claim.quota, 0),
                   coalesce(voucher_claim.subevent, 0),
                   case when voucher_claim.blocks then greatest(${amountOf(sql`voucher_claim`)}, 0) else 0 end,
                   coalesce(extract(epoch from voucher_claim.valid_until_at), 0),
                   case when ${isUsable(sql`voucher_claim`)} then voucher_claim.seat end) as content
    from voucher_claim
   where voucher_claim.max_usages is not null`;
