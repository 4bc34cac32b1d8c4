import type { Queryable } from "@tessera/kit/pg/database";
import { drawAboveClock } from "@tessera/kit/pg/draw-above-clock";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, decimal, instant, rowsAs, table, text } from "@tessera/kit/pg/table";
import { withKey } from "@tessera/kit/pg/with-key";
import type { PriceMode, Voucher } from "../domain/voucher.ts";
import { fault } from "../faults.ts";
import { type EntityKey, type EventKey, entityKey, keysAs } from "./keys.ts";

export const vouchers = table("voucher", {
  key: entityKey,
  columns: {
    revision: bigint,
    code: text,
    maxUsages: bigint,
    minUsages: bigint,
    validUntil: instant.orNull,
    blockQuota: boolean,
    allowIgnoreQuota: boolean,
    priceMode: text,
    value: decimal.orNull,
    item: bigint.orNull,
    variation: bigint.orNull,
    quota: bigint.orNull,
    seat: text.orNull,
    tag: text,
    comment: text,
    subevent: bigint.orNull,
    showHiddenItems: boolean,
    allAddonsIncluded: boolean,
    allBundlesIncluded: boolean,
    budget: decimal.orNull,
    created: instant,
    redeemed: bigint,
    budgetUsed: decimal,
    baseRedeemed: bigint,
    baseBudgetUsed: decimal,
    countedAsOf: instant.orNull,
  },
});

export interface StoredVoucher extends Voucher {
  /** Rises with every change. */
  readonly revision: number;
  /** The uses that the last record states. */
  readonly baseRedeemed: number;
  readonly baseBudgetUsed: string;
  /** The moment of the record, which contains the orders before it; null: the voucher was made here. */
  readonly countedAsOf: number | null;
}

type Row = Readonly<Record<string, unknown>>;

export function toVoucher(row: Row): StoredVoucher {
  const { created, priceMode, organizer: _o, event: _e, ...voucher } = vouchers.toRow(row);
  return { ...voucher, createdAt: created, priceMode: priceMode as PriceMode };
}

/** Finds a voucher of an event; throws if the event has no such voucher. */
export async function requireVoucher(db: Queryable, { organizer, event, id }: EntityKey): Promise<StoredVoucher> {
  const row = await db.maybeOne<Row>(sql`
    select ${vouchers.selected}
      from voucher
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       and voucher.id = ${id}`);
  if (row === undefined) throw fault("voucher_not_found", "The event has no such voucher.");
  return toVoucher(row);
}

/** Locks vouchers until the transaction ends: serializes their changes. */
export async function lockVouchers(tx: Queryable, keys: readonly EntityKey[]): Promise<(EntityKey & StoredVoucher)[]> {
  const rows = await tx.many<Row & EventKey>(sql`
    select ${vouchers.selected}
      from (select sent.organizer, sent.event, sent.id
              from ${keysAs("sent", keys)}
             order by sent.organizer collate "C", sent.event collate "C", sent.id) as wanted
     cross join lateral (
       select ${vouchers.selected}
         from voucher
        where ${withKey(sql`voucher.organizer, voucher.event, voucher.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1
          for no key update) as voucher`);
  return rows.map((row) => ({ ...toVoucher(row), organizer: row.organizer, event: row.event }));
}

/** Finds which of these vouchers exist, and since when. */
export async function findVouchers(
  db: Queryable,
  keys: readonly EntityKey[],
): Promise<(EntityKey & Pick<StoredVoucher, "createdAt">)[]> {
  return db.many(sql`
    select found.organizer, found.event, found.id, found.created_at as "createdAt"
      from ${keysAs("wanted", keys)}
     cross join lateral (
       select voucher.organizer, voucher.event, voucher.id, voucher.created_at
         from voucher
        where ${withKey(sql`voucher.organizer, voucher.event, voucher.id`, sql`wanted.organizer, wanted.event, wanted.id`)}
        limit 1) as found`);
}

/**
 * Finds which of these codes are taken, with the id of the voucher.
 *
 * Each is looked up as the first row of a range, for which only the index by code avoids a sort. With an equality, a
 * plan cached while the table was small might use any index that begins with the event, and read the whole event.
 */
export async function findCodes(
  db: Queryable,
  { organizer, event }: EventKey,
  codes: readonly string[],
): Promise<Map<string, number>> {
  if (codes.length === 0) return new Map();
  const rows = await db.many<{ code: string; id: number }>(sql`
    select voucher.code, voucher.id
      from ${rowsAs(
        "wanted",
        { code: text },
        codes.map((code) => ({ code })),
      )}
     cross join lateral (
       select found.code, found.id
         from voucher as found
        where (found.organizer, found.event, found.code) >= (${organizer}, ${event}, wanted.code)
          and (found.organizer, found.event, found.code) <= (${organizer}, ${event}, wanted.code)
        order by found.organizer, found.event, found.code
        limit 1) as voucher`);
  return new Map(rows.map(({ code, id }) => [code, id]));
}

/**
 * Clears the codes of vouchers that get other codes in this transaction, so that vouchers can swap codes. The
 * placeholder has lower-case letters, as no code has.
 */
export async function freeCodes(tx: Queryable, { organizer, event }: EventKey, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.run(sql`
    update voucher
       set code = 'given-up-' || voucher.id
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       and voucher.id = any(${ids}::bigint[])`);
}

/** Takes ids for new vouchers, from a range that no record may use. The ids rise. */
export async function nextVoucherIds(tx: Queryable, count: number): Promise<number[]> {
  return nextNumbers(tx, sql`nextval('voucher_id')`, count);
}

/** Takes a revision for each change. */
export async function nextRevisions(tx: Queryable, count: number): Promise<number[]> {
  return nextNumbers(tx, sql`nextval('revision_seq')`, count);
}

/** As one row: ten thousand rows take longer. */
async function nextNumbers(tx: Queryable, next: Sql, count: number): Promise<number[]> {
  if (count === 0) return [];
  const { numbers } = await tx.one<{ numbers: number[] }>(
    sql`select array_agg(${next}) as numbers from generate_series(1, ${count}::integer)`,
  );
  return numbers.sort((one, other) => one - other);
}

/** Stores new vouchers. */
export async function insertVouchers(tx: Queryable, place: EventKey, made: readonly StoredVoucher[]): Promise<void> {
  await vouchers.insert(
    tx,
    made.map((voucher) => toRow(place, voucher)),
  );
}

/** Upserts vouchers; ids must be distinct. */
export async function putVouchers(tx: Queryable, place: EventKey, changed: readonly StoredVoucher[]): Promise<void> {
  await vouchers.upsert(
    tx,
    changed.map((voucher) => toRow(place, voucher)),
  );
}

function toRow({ organizer, event }: EventKey, { createdAt, ...voucher }: StoredVoucher) {
  return { ...voucher, created: createdAt, organizer, event };
}

/** Reads and locks the next vouchers after a key, in key order: a change of one is published before or after. */
export async function nextVouchers(
  tx: Queryable,
  { after, limit }: { readonly after: EntityKey | undefined; readonly limit: number },
): Promise<(EntityKey & StoredVoucher)[]> {
  const { organizer, event, id } = after ?? { organizer: "", event: "", id: 0 };
  const rows = await tx.many<Row & EventKey>(sql`
    select ${vouchers.selected}
      from voucher
     where (voucher.organizer, voucher.event, voucher.id) > (${organizer}, ${event}, ${id})
     order by voucher.organizer, voucher.event, voucher.id
     limit ${limit}
       for no key update`);
  return rows.map((row) => ({ ...toVoucher(row), organizer: row.organizer, event: row.event }));
}

export async function countAllVouchers(db: Queryable): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`select count(*) as count from voucher`);
  return count;
}

/**
 * Draws a revision above all earlier ones. The lock waits for transactions that have drawn a smaller one: before that,
 * they lock the event of a new voucher, or the row of an existing one.
 */
export async function drawCutoff(tx: Queryable): Promise<number> {
  await tx.run(sql`lock table event, voucher in exclusive mode`);
  return drawAboveClock(tx, "revision_seq");
}

export async function deleteVouchers(tx: Queryable, keys: readonly EntityKey[]): Promise<number> {
  return vouchers.delete(tx, keys);
}

/** How often each voucher was used that a shop has confirmed, and no position yet: it keeps these places until then. */
const awaited = sql`
  select current_use.organizer, current_use.event, current_use.voucher, count(*) as uses
    from current_use
    join voucher
      on voucher.organizer = current_use.organizer
         and voucher.event = current_use.event
         and voucher.id = current_use.voucher
   where current_use.revision = 0
     and current_use.counts
     and (voucher.counted_as_of_at is null or current_use.since_at >= voucher.counted_as_of_at)
   group by current_use.organizer, current_use.event, current_use.voucher`;
const left = sql`greatest(voucher.max_usages - greatest(voucher.redeemed - coalesce(awaited.uses, 0), 0), 0)`;

/** What each voucher takes, for the reconciliation with boxoffice. */
export const takenRows = sql`
  select voucher.organizer, voucher.event, voucher.id, voucher.revision,
         concat_ws('/', coalesce(voucher.item, 0), coalesce(voucher.variation, 0), coalesce(voucher.quota, 0),
                   coalesce(voucher.subevent, 0), case when voucher.block_quota then ${left} else 0 end,
                   coalesce(extract(epoch from voucher.valid_until_at), 0), case when ${left} > 0 then voucher.seat end) as content
    from voucher
    left join (${awaited}) as awaited
      on awaited.organizer = voucher.organizer
         and awaited.event = voucher.event
         and awaited.voucher = voucher.id
   -- Vouchers of a removed event take nothing.
   where exists (select from event where event.organizer = voucher.organizer and event.event = voucher.event)`;

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
