import type { Queryable } from "@tessera/kit/pg/database";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import { rowsAs } from "@tessera/kit/pg/table";
import { isPlacedIn, withKey } from "@tessera/kit/pg/with-key";
import { type EventKey, eventKey } from "./keys.ts";

/** Whether the vouchers of this row's event are being deleted. */
export function isBeingRemoved(table: Sql): Sql {
  return sql`exists (select from gone_event
                      where gone_event.organizer = ${table}.organizer
                        and gone_event.event = ${table}.event
                        and gone_event.is_deleted)`;
}

export async function noteDeletedEvents(tx: Queryable, keys: readonly EventKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(sql`
    insert into gone_event (organizer, event, is_deleted)
    select gone.organizer, gone.event, true
      from ${rowsAs("gone", eventKey, keys)}
     order by gone.organizer collate "C", gone.event collate "C"
        on conflict (organizer, event) do update
           set is_deleted = true`);
}

/** Notes the events that a rebuild did not publish, by the revision of their copies. */
export async function noteOlderEvents(tx: Queryable, revision: number): Promise<void> {
  await tx.run(sql`
    insert into gone_event (organizer, event, is_deleted)
    select event.organizer, event.event, false
      from event
     where event.revision < ${revision}
     order by event.organizer, event.event
        on conflict (organizer, event) do nothing`);
}

/** Finds the deleted events. An event that a rebuild did not publish counts after a day, unless it is back. */
export async function findGoneEvents(db: Queryable): Promise<EventKey[]> {
  const isBack = sql`exists (select from event
                              where event.organizer = gone_event.organizer
                                and event.event = gone_event.event)`;
  await db.run(sql`delete from gone_event where not gone_event.is_deleted and ${isBack}`);
  await db.run(sql`
    update gone_event
       set is_deleted = true
     where not gone_event.is_deleted
       and gone_event.noted_at < now() - interval '1 day'
       and not ${isBack}`);
  return db.many<EventKey>(sql`
    select gone_event.organizer, gone_event.event
      from gone_event
     where gone_event.is_deleted
     order by gone_event.noted_at, gone_event.organizer, gone_event.event`);
}

/** Finds the events whose vouchers are being deleted. */
export async function findBeingRemoved(db: Queryable, keys: readonly EventKey[]): Promise<EventKey[]> {
  return db.many<EventKey>(sql`
    select gone_event.organizer, gone_event.event
      from gone_event
     where gone_event.is_deleted
       and exists (select from ${rowsAs("wanted", eventKey, keys)}
                    where wanted.organizer = gone_event.organizer and wanted.event = gone_event.event)
     order by gone_event.organizer, gone_event.event`);
}

/**
 * Locks the note of a deleted event; false: no note. Serializes the batches of one event, and none runs after the
 * end: by then the event may be back, with other vouchers.
 */
export async function lockGoneEvent(tx: Queryable, { organizer, event }: EventKey): Promise<boolean> {
  const locked = await tx.run(sql`
    select
      from gone_event
     where gone_event.organizer = ${organizer}
       and gone_event.event = ${event}
       and gone_event.is_deleted
       for update`);
  return locked > 0;
}

/** Deletes the next vouchers of an event after an id, in the order of ids. Returns their ids. */
export async function deleteNextVouchers(
  tx: Queryable,
  { organizer, event }: EventKey,
  { after, limit }: { readonly after: number; readonly limit: number },
): Promise<number[]> {
  const deleted = await tx.many<{ id: number }>(sql`
    with next as materialized (
      select voucher.ctid
        from voucher
       where voucher.organizer = ${organizer}
         and voucher.event = ${event}
         and voucher.id > ${after}
       order by voucher.id
       limit ${limit}
         for update
    ), deleted as (
      delete from voucher
       where ${isPlacedIn(sql`voucher`, sql`next`)}
      returning voucher.id
    )
    select deleted.id
      from deleted
     order by deleted.id`);
  return deleted.map(({ id }) => id);
}

/**
 * Deletes the note of an event without vouchers, with its reservations and uses that were confirmed for positions which
 * never arrived; false: there are vouchers. While the note exists, a new event with this slug has neither.
 */
export async function forgetGoneEvent(tx: Queryable, { organizer, event }: EventKey): Promise<boolean> {
  const forgotten = await tx.run(sql`
    delete from gone_event
     where gone_event.organizer = ${organizer}
       and gone_event.event = ${event}
       and (select true
              from voucher
             where ${withKey(sql`voucher.organizer, voucher.event`, sql`${organizer}, ${event}`)}
             limit 1) is null`);
  if (forgotten === 0) return false;
  for (const table of [sql`voucher_reservation`, sql`reserved_use`, sql`ended_use`, sql`former_use`, sql`use_sum`]) {
    await tx.run(sql`delete from ${table} where ${table}.organizer = ${organizer} and ${table}.event = ${event}`);
  }
  await tx.run(sql`
    delete from current_use
     where current_use.organizer = ${organizer}
       and current_use.event = ${event}
       and current_use.revision = 0`);
  return true;
}
