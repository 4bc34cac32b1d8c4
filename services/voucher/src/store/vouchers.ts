import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, boolean, decimal, instant, table, text } from "@tessera/kit/pg/table";
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
    countedAsOf: instant.orNull,
  },
});

/** A voucher as it is stored. */
export interface StoredVoucher extends Voucher {
  /** Rises with every change. */
  readonly revision: number;
  /** A record's `redeemed` and `budgetUsed` contain the orders before this moment; null: it was made here. */
  readonly countedAsOf: number | null;
}

type Row = Readonly<Record<string, unknown>>;

export function toVoucher(row: Row): StoredVoucher {
  const { created, priceMode, organizer: _o, event: _e, ...voucher } = vouchers.toRow(row);
  return { ...voucher, createdAt: created, priceMode: priceMode as PriceMode };
}

/** Finds a voucher of an event; throws where the event has no such voucher. */
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

/** Locks vouchers until the transaction ends, so that changes of them are made one after the other. */
export async function lockVouchers(tx: Queryable, keys: readonly EntityKey[]): Promise<(EntityKey & StoredVoucher)[]> {
  const rows = await tx.many<Row & EventKey>(sql`
    select ${vouchers.selected}
      from voucher
      join ${keysAs("wanted", keys)}
        on voucher.organizer = wanted.organizer and voucher.event = wanted.event and voucher.id = wanted.id
     order by voucher.organizer, voucher.event, voucher.id
       for no key update of voucher`);
  return rows.map((row) => ({ ...toVoucher(row), organizer: row.organizer, event: row.event }));
}

/** Finds which of these codes vouchers of the event have, with the id of the voucher. */
export async function findCodes(
  db: Queryable,
  { organizer, event }: EventKey,
  codes: readonly string[],
): Promise<Map<string, number>> {
  const rows = await db.many<{ code: string; id: number }>(sql`
    select voucher.code, voucher.id
      from voucher
     where voucher.organizer = ${organizer}
       and voucher.event = ${event}
       and voucher.code = any(${codes}::text[])`);
  return new Map(rows.map(({ code, id }) => [code, id]));
}

/** Takes ids for new vouchers, which no record may bring. They rise. */
export async function nextVoucherIds(tx: Queryable, count: number): Promise<number[]> {
  const rows = await tx.many<{ id: number }>(
    sql`select nextval('voucher_id') as id from generate_series(1, ${count}::integer)`,
  );
  return rows.map(({ id }) => id).sort((one, other) => one - other);
}

/** Takes revisions for changes, one for each. */
export async function nextRevisions(tx: Queryable, count: number): Promise<number[]> {
  const rows = await tx.many<{ revision: number }>(
    sql`select nextval('revision_seq') as revision from generate_series(1, ${count}::integer)`,
  );
  return rows.map(({ revision }) => revision);
}

/** Creates vouchers or replaces them under their ids; no id may occur twice. */
export async function putVouchers(
  tx: Queryable,
  { organizer, event }: EventKey,
  changed: readonly StoredVoucher[],
): Promise<void> {
  await vouchers.upsert(
    tx,
    changed.map(({ createdAt, ...voucher }) => ({ ...voucher, created: createdAt, organizer, event })),
  );
}

/** Reads vouchers behind a key, in the order of their keys, and locks them: a change of one is published before or after. */
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
 * Draws a revision above all earlier ones, also above those of a database that a backup has replaced since: the time in
 * microseconds, unless the sequence is ahead of it. The lock waits for transactions that have drawn a smaller one.
 */
export async function drawCutoff(tx: Queryable): Promise<number> {
  await tx.run(sql`lock table voucher in share mode`);
  const { revision } = await tx.one<{ revision: number }>(sql`
    select case when coalesce(pg_sequence_last_value('revision_seq'::regclass), 0) < clock.micros - 1000000
                then setval('revision_seq', clock.micros)
                else nextval('revision_seq')
           end as revision
      from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint as micros) as clock`);
  return revision;
}

/** Reads the clock of the database. */
export async function readTime(db: Queryable): Promise<number> {
  const { now } = await db.one<{ now: number }>(sql`select now() as now`);
  return now;
}

/** Deletes vouchers. */
export async function deleteVouchers(tx: Queryable, keys: readonly EntityKey[]): Promise<number> {
  return vouchers.delete(tx, keys);
}
