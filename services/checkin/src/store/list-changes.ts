import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/**
 * Notes that lists of an event have changed. Later changes of its lists wait for this transaction. To avoid deadlocks
 * the caller must have locked all lists that it changes.
 */
export async function noteListsChanged(tx: Queryable, { organizer, event }: EventKey): Promise<void> {
  await tx.run(sql`
    insert into list_change (organizer, event, changed_at, changed_in)
    values (${organizer}, ${event}, date_trunc('second', clock_timestamp()), pg_current_xact_id())
        on conflict (organizer, event) do update
       set changed_at = greatest(excluded.changed_at, list_change.changed_at + interval '1 second'),
           changed_in = excluded.changed_in
     where list_change.changed_in <> excluded.changed_in`);
}

/**
 * Returns when the lists of an event changed last, in whole seconds as an instant. Undefined: never, or so often within
 * a second that the time is in the future.
 */
export async function findListsChanged(db: Queryable, { organizer, event }: EventKey): Promise<number | undefined> {
  const row = await db.maybeOne<{ changed_at: number }>(sql`
    select list_change.changed_at
      from list_change
     where list_change.organizer = ${organizer}
       and list_change.event = ${event}
       and list_change.changed_at <= clock_timestamp()`);
  return row?.changed_at;
}
