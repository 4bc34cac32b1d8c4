import { type EntityKey, eventKey, keysAs } from "@tessera/events/entity-key";
import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { inMicroseconds } from "@tessera/kit/pg/instants";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, instant, rowsAs, table } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import type { Instant } from "@tessera/values";
import type { Scope } from "../domain/scope.ts";
import type { FormerUse, Use, UsedSince } from "../domain/voucher-uses.ts";

/** What is known of a position that names a voucher, or did. */
export interface KnownUse {
  readonly id: number;
  readonly current: Use | undefined;
  readonly last: UsedSince;
}

interface Row extends UsedSince, Pick<KnownUse, "id"> {
  readonly voucher: number | null;
  readonly counts: boolean;
  readonly budget: string | null;
}

/** Reads the uses of these positions; most name no voucher, and are left out. */
export async function readUses(tx: Tx, { organizer, event }: Scope, ids: readonly number[]): Promise<KnownUse[]> {
  if (ids.length === 0) return [];
  const place = sql`${organizer}, ${event}, wanted.id`;
  const rows = await tx.many<Row>(sql`
    select wanted.id, named.voucher, named.taken_as is not null as counts, named.budget_use as budget,
           coalesce(named.since, ended.at) as since,
           case when named.voucher is null then ended.overtaken_at else named.voucher_overtaken_at end as "overtakenAt"
      from unnest(${ids}::bigint[]) as wanted (id)
      left join lateral (
        select position.voucher, position.taken_as, position.budget_use, position.voucher_overtaken_at,
               position.voucher_since_at as since
          from position
         where position.voucher is not null
           and ${withKey(sql`position.organizer, position.event, position.id`, place)}
         limit 1) as named
             on true
      left join lateral (
        select former_use.until_at as at,
               (select position.voucher_overtaken_at
                  from position
                 where ${withKey(sql`position.organizer, position.event, position.id`, place)}) as overtaken_at
          from former_use
         where former_use.organizer = ${organizer}
           and former_use.event = ${event}
           and former_use.position = wanted.id
         order by former_use.until_at desc
         limit 1) as ended
             on true
     where named.voucher is not null
        or ended.at is not null`);
  return rows.map(({ id, voucher, counts, budget, since, overtakenAt }) => {
    const current = voucher === null ? undefined : { voucher, counts, budget, since };
    return { id, current, last: { since, overtakenAt } };
  });
}

const key = { ...eventKey, voucher: bigint, position: bigint, until: instant };
const formerUses = table("former_use", { key, columns: { since: instant, counts: boolean } });

interface FormerUseOf extends FormerUse {
  readonly position: number;
}

/** Reads the former uses of positions. */
export async function readFormerUses(
  tx: Tx,
  { organizer, event }: Scope,
  ids: readonly number[],
): Promise<FormerUseOf[]> {
  if (ids.length === 0) return [];
  return tx.many<FormerUseOf>(sql`
    select former_use.position, former_use.voucher, former_use.counts, former_use.since_at as since, former_use.until_at as until
      from former_use
     where former_use.organizer = ${organizer}
       and former_use.event = ${event}
       and former_use.position = any(${ids}::bigint[])`);
}

/** Deletes the former uses of positions. */
export async function deleteFormerUses(tx: Tx, { organizer, event }: Scope, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`
    delete from former_use
     where former_use.organizer = ${organizer}
       and former_use.event = ${event}
       and former_use.position = any(${ids}::bigint[])`);
}

/** Stores former uses of positions. */
export async function addFormerUses(tx: Tx, scope: Scope, ended: readonly FormerUseOf[]): Promise<void> {
  await formerUses.insert(
    tx,
    ended.map(({ position, voucher, counts, since, until }) => ({ ...scope, position, voucher, counts, since, until })),
  );
}

/** The column version of a claim without a fact: above all versions, so that it never counts as outdated. */
export const ofNoVersion = 2_147_483_647;

/** When the records of vouchers were made, by their ids; null: a voucher has no record, or is unknown. */
interface LockedRecords {
  /** The clock of the database, under the locks. */
  readonly now: Instant;
  readonly countedAsOf: ReadonlyMap<number, Instant | null>;
}

/** Locks the claims of vouchers of an event, and makes those that are missing. */
export async function lockRecords(
  tx: Queryable,
  { organizer, event }: Scope,
  vouchers: readonly number[],
): Promise<LockedRecords> {
  const rows = await tx.many<{ id: number; countedAsOf: number | null; now: number }>(sql`
    insert into voucher_claim as kept (organizer, event, id, revision, known_columns)
    select ${organizer}, ${event}, named.id, 0, ${ofNoVersion}
      from unnest(${vouchers}::bigint[]) as named (id)
     order by named.id
        on conflict (organizer, event, id) do update
       set uses = kept.uses
    returning kept.id, kept.counted_as_of_at as "countedAsOf", ${inMicroseconds(sql`clock_timestamp()`)} as now`);
  return {
    now: Math.max(...rows.map(({ now }) => now)),
    countedAsOf: new Map(rows.map(({ id, countedAsOf }) => [id, countedAsOf])),
  };
}

/** Adds to the uses of vouchers by positions of an event. The caller has locked their claims. */
export async function addUses(
  tx: Queryable,
  { organizer, event }: Scope,
  added: ReadonlyMap<number, number>,
): Promise<void> {
  const rows = Array.from(added, ([id, uses]) => ({ id, uses })).filter(({ uses }) => uses !== 0);
  if (rows.length === 0) return;
  await tx.run(sql`
    update voucher_claim
       set uses = voucher_claim.uses + added.uses
      from ${rowsAs("added", { id: bigint, uses: bigint }, rows)}
     where voucher_claim.organizer = ${organizer}
       and voucher_claim.event = ${event}
       and voucher_claim.id = added.id`);
}

/** Names the vouchers that are counted: the condition of a row whose `id` is that of its voucher. */
type IsWanted = (row: Sql, id: Sql) => Sql;

const isAny: IsWanted = () => sql`true`;

/** What positions add to the records of vouchers: those that use them now, without those that used them at the moment. */
const usesBeside = (isWanted: IsWanted) => sql`
  select used.organizer, used.event, used.voucher as id, sum(used.uses)::bigint as uses
    from (select position.organizer, position.event, position.voucher, position.voucher_since_at as since_at,
                 null::timestamptz as until_at, 1 as uses
            from position
           where position.voucher is not null
             and position.taken_as is not null
             and ${isWanted(sql`position`, sql`position.voucher`)}
           union all
          select former_use.organizer, former_use.event, former_use.voucher, former_use.since_at, former_use.until_at, -1
            from former_use
           where former_use.counts
             and ${isWanted(sql`former_use`, sql`former_use.voucher`)}) as used
    left join voucher_claim as claim
      on claim.organizer = used.organizer
         and claim.event = used.event
         and claim.id = used.voucher
   where case
           when used.until_at is null
           then claim.counted_as_of_at is null or used.since_at >= claim.counted_as_of_at
           else used.since_at < claim.counted_as_of_at and used.until_at >= claim.counted_as_of_at
         end
   group by used.organizer, used.event, used.voucher
  having sum(used.uses) <> 0`;

/** Recounts the uses of vouchers, whose claims the caller has locked. */
export async function recountUses(tx: Queryable, vouchers: readonly EntityKey[]): Promise<void> {
  await putUses(
    tx,
    (row, id) => sql`
    (${row}.organizer, ${row}.event, ${id}) in (select wanted.organizer, wanted.event, wanted.id from ${keysAs("wanted", vouchers)})`,
  );
}

/** Recounts the uses of all vouchers. The lock excludes statements that add to the counts. */
export async function recountAllUses(tx: Queryable): Promise<void> {
  await tx.run(sql`lock table voucher_claim in share row exclusive mode`);
  await putUses(tx, isAny);
}

async function putUses(tx: Queryable, isWanted: IsWanted): Promise<void> {
  await tx.run(sql`
    with counted as materialized (${usesBeside(isWanted)})
    insert into voucher_claim as kept (organizer, event, id, uses, revision, known_columns)
    select counted.organizer, counted.event, counted.id, counted.uses, 0, ${ofNoVersion}::integer
      from counted
     union all
    select unused.organizer, unused.event, unused.id, 0, 0, ${ofNoVersion}::integer
      from voucher_claim as unused
     where unused.uses <> 0
       and ${isWanted(sql`unused`, sql`unused.id`)}
       and (unused.organizer, unused.event, unused.id) not in (select counted.organizer, counted.event, counted.id from counted)
        on conflict (organizer, event, id) do update
       set uses = excluded.uses
     where kept.uses <> excluded.uses`);
}

/** What positions add to the record of each voucher, as stored and as counted, for the reconciliation. */
export const usesRows = sql`
  select voucher_claim.organizer, voucher_claim.event, voucher_claim.id, 0 as revision, voucher_claim.uses::text as content
    from voucher_claim
   where voucher_claim.uses <> 0`;
export const recountedUsesRows = sql`
  select counted.organizer, counted.event, counted.id, 0 as revision, counted.uses::text as content
    from (${usesBeside(isAny)}) as counted`;
