import type { Queryable } from "@tessera/kit/pg/database";
import { identifier, joinSql, sql } from "@tessera/kit/pg/sql";
import { rowsAs, text } from "@tessera/kit/pg/table";
import type { EventKey } from "./keys.ts";

const eventKey = { organizer: text, event: text };

/** Notes that events were deleted. */
export async function noteGoneEvents(tx: Queryable, keys: readonly EventKey[]): Promise<void> {
  if (keys.length === 0) return;
  await tx.run(sql`
    insert into gone_event (organizer, event, gone_at)
    select gone.organizer, gone.event, clock_timestamp()
      from ${rowsAs("gone", eventKey, keys)}
     order by gone.organizer collate "C", gone.event collate "C"
        on conflict (organizer, event) do update
           set gone_at = excluded.gone_at`);
}

/** Notes that events are deleted by which their copies are older than a revision. */
export async function noteOlderEvents(tx: Queryable, revision: number): Promise<void> {
  await noteGoneEvents(
    tx,
    await tx.many<EventKey>(sql`select event.organizer, event.event from event where event.revision < ${revision}`),
  );
}

/** Finds the events that were deleted a day ago, and deletes the notes of those that are back. */
export async function findGoneEvents(db: Queryable): Promise<EventKey[]> {
  await db.run(sql`
    delete from gone_event
     using event
     where event.organizer = gone_event.organizer
       and event.event = gone_event.event`);
  return db.many<EventKey>(sql`
    select gone_event.organizer, gone_event.event
      from gone_event
     where gone_event.gone_at < now() - interval '1 day'
     order by gone_event.gone_at`);
}

/** The tables of what check-in owns of an event. Presences and answers are deleted with their tickets. */
export const ownTables = ["scan", "count_delta", "list", "gone_list", "list_change"] as const;

/** Rows deleted at a time, so that a statement is quick. */
export const mostRows = 5000;

/** Deletes rows of an event that does not exist; returns their number. */
export async function deleteRowsOf(
  db: Queryable,
  { organizer, event }: EventKey,
  table: (typeof ownTables)[number],
): Promise<number> {
  const rows = identifier(table);
  return db.run(sql`
    delete from ${rows} as kept
     where kept.ctid = any(array(
             select held.ctid
               from ${rows} as held
              where held.organizer = ${organizer}
                and held.event = ${event}
              limit ${mostRows}
                for update skip locked))
       and not exists (select from event where event.organizer = ${organizer} and event.event = ${event})`);
}

/** Deletes the note of an event that left nothing. Rows that another transaction holds are left, and may stay. */
export async function forgetGoneEvent(db: Queryable, { organizer, event }: EventKey): Promise<void> {
  const left = ownTables.map(
    (table) =>
      sql`exists (select from ${identifier(table)} as kept where kept.organizer = ${organizer} and kept.event = ${event})`,
  );
  await db.run(sql`
    delete from gone_event
     where gone_event.organizer = ${organizer}
       and gone_event.event = ${event}
       and gone_event.gone_at < now() - interval '1 day'
       and not (${joinSql(left, " or ")})`);
}
