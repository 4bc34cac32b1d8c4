import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** Notes that lists of these events have changed: last in a transaction, for it makes other changes wait. */
export async function noteListsChanged(tx: Queryable, events: readonly EventKey[]): Promise<void> {
  if (events.length === 0) return;
  // In one order for everybody, so that nobody waits for one who waits for him.
  await tx.run(sql`
    insert into list_change (organizer, event, changed_at, changed_in)
    select changed.organizer, changed.event, date_trunc('second', clock_timestamp()), pg_current_xact_id()
      from (select distinct event.organizer collate "C" as organizer, event.event collate "C" as event
              from unnest(${events.map(({ organizer }) => organizer)}::text[],
                          ${events.map(({ event }) => event)}::text[]) as event (organizer, event)
             order by organizer, event) as changed
        on conflict (organizer, event) do update
       set changed_at = greatest(excluded.changed_at, list_change.changed_at + interval '1 second'),
           changed_in = excluded.changed_in
     where list_change.changed_in <> excluded.changed_in`);
}

/**
 * Tells when the lists of an event changed last, in whole seconds as an instant. Undefined: never, or so often in a
 * moment that the time of the last one is still to come.
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
