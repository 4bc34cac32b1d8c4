import { forgetGoneEvent, isGone } from "@tessera/events/gone-events";
import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { identifier, joinSql, sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import type { EventKey } from "./keys.ts";

/** The tables that check-in owns. Presences and answers are deleted with their tickets. */
export const ownTables = [
  "double_note",
  "scan",
  "count_delta",
  "list",
  "gone_list",
  "list_change",
  "alarm",
  "persons_inside",
] as const;

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
       and ${isGone({ organizer, event })}`);
}

/** Deletes scans of no ticket that were stored before an event was deleted; returns their number. Others go with their tickets. */
export async function deleteUnknownScans(
  db: Queryable,
  { organizer, event, deletedAt }: EventKey & { readonly deletedAt: number },
): Promise<number> {
  return db.run(sql`
    delete from scan as kept
     where kept.ctid = any(array(
             select held.ctid
               from scan as held
              where held.organizer = ${organizer}
                and held.event = ${event}
                and held.created_at < ${toTimestamp(deletedAt)}::timestamptz
                and held.position is null
              order by held.created_at, held.id
              limit ${mostRows}))`);
}

/** Deletes the note of an event without rows. Rows that another transaction locks are skipped. */
export async function forgetEmptyEvent(db: Queryable, { organizer, event }: EventKey): Promise<void> {
  const left = ownTables.map((table) => {
    const ofEvent = withKey(sql`kept.organizer, kept.event`, sql`${organizer}, ${event}`);
    return sql`(select true from ${identifier(table)} as kept where ${ofEvent} limit 1) is not null`;
  });
  await forgetGoneEvent(db, { organizer, event }, { isLeft: joinSql(left, " or ") });
}
