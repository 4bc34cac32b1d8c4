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
