import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, bigints, boolean, instant, table, text, texts, uuid } from "@tessera/kit/pg/table";
import type { Batch, BatchFields, BatchTickets } from "../domain/batch.ts";
import { fault } from "../faults.ts";
import { type EntityKey, type EventKey, entityKey } from "./keys.ts";

const fields = {
  job: uuid,
  created: instant,
  testmode: boolean,
  salesChannel: text,
  layout: bigint,
  subevent: bigint.orNull,
  item: bigint,
  variation: bigint.orNull,
  amount: bigint,
  comment: text,
  canceled: instant.orNull,
};

/** As lists show them. */
const listed = table("batch", { key: entityKey, columns: fields });

const whole = table("batch", { key: entityKey, columns: { ...fields, orders: texts, positions: bigints } });

type Row = Readonly<Record<string, unknown>>;

export async function countBatches(db: Queryable, { organizer, event }: EventKey): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from batch
     where batch.organizer = ${organizer}
       and batch.event = ${event}`);
  return count;
}

/** Reads one page of the batches of an event, by their ids. */
export async function pageBatches(
  db: Queryable,
  { organizer, event }: EventKey,
  page: { readonly limit: number; readonly offset: number },
): Promise<Batch[]> {
  const rows = await db.many<Row>(sql`
    select ${listed.selected}
      from batch
     where batch.organizer = ${organizer}
       and batch.event = ${event}
     order by batch.id
     limit ${page.limit} offset ${page.offset}`);
  return rows.map(listed.toRow);
}

/** Finds a batch of an event with its orders; throws where the event has no such batch. */
export async function requireBatch(db: Queryable, { organizer, event, id }: EntityKey): Promise<Batch & BatchTickets> {
  const row = await db.maybeOne<Row>(sql`
    select ${whole.selected}
      from batch
     where batch.organizer = ${organizer}
       and batch.event = ${event}
       and batch.id = ${id}`);
  if (row === undefined) throw fault("batch_not_found", "The event has no such batch.");
  return whole.toRow(row);
}

/** Stores a new batch under an id of its own, and returns the id. */
export async function insertBatch(
  tx: Queryable,
  { organizer, event, ...batch }: EventKey & BatchFields & BatchTickets & Pick<Batch, "job">,
): Promise<number> {
  const { id, created } = await tx.one<{ id: number; created: number }>(
    sql`select nextval('batch_id') as id, now() as created`,
  );
  await whole.insert(tx, [{ organizer, event, id, created, ...batch }]);
  return id;
}

/** Notes that the orders of a batch were canceled; the first time counts. */
export async function noteCanceled(db: Queryable, { organizer, event, id }: EntityKey): Promise<void> {
  await db.run(sql`
    update batch
       set canceled_at = now()
     where batch.organizer = ${organizer}
       and batch.event = ${event}
       and batch.id = ${id}
       and batch.canceled_at is null`);
}

/** Deletes the batches of an event that were made before an instant, in microseconds since 1970, and others, with their renderings. */
export async function deleteBatches(
  tx: Queryable,
  { organizer, event }: EventKey,
  { madeBefore, orIds }: { readonly madeBefore: number; readonly orIds: readonly number[] },
): Promise<void> {
  await tx.run(sql`
    delete from batch
     where batch.organizer = ${organizer}
       and batch.event = ${event}
       and (batch.created_at < ${toTimestamp(madeBefore)} or batch.id = any(${orIds}::bigint[]))`);
}
