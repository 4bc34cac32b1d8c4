import type { Queryable, Tx } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { bigint, rowsAs } from "@tessera/kit/pg/table";
import type { DoubleNote } from "../domain/double-filter.ts";
import { attendeesAreErased } from "./erase-answers.ts";
import type { EntityKey, EventKey } from "./keys.ts";

/** What a double shows besides its scans. */
export interface TicketOfDouble {
  readonly orderCode: string;
  readonly positionid: number;
  readonly note: DoubleNote | null;
}

interface Row {
  readonly ord: number;
  readonly order_code: string;
  readonly positionid: number;
  readonly explanation: string | null;
  readonly explained_by: string | null;
  readonly explained_at: number | null;
}

const asked = { scan: bigint, position: bigint };

/** Reads the tickets and the notes of doubles; undefined: the ticket was deleted just now. */
export async function readTicketsOfDoubles(
  db: Queryable,
  { organizer, event }: EventKey,
  doubles: readonly { readonly scan: number; readonly position: number }[],
): Promise<(TicketOfDouble | undefined)[]> {
  const found = doubles.map((): TicketOfDouble | undefined => undefined);
  if (doubles.length === 0) return found;
  const rows = await db.many<Row>(sql`
    select asked.ord, position.order_code, position.positionid, double_note.explanation, double_note.explained_by,
           double_note.explained_at
      from ${rowsAs("asked", asked, doubles, { isNumbered: true })}
      join position
        on position.organizer = ${organizer} and position.event = ${event} and position.id = asked.position
      left join double_note
        on double_note.organizer = ${organizer} and double_note.event = ${event} and double_note.scan = asked.scan`);
  for (const { ord, order_code: orderCode, positionid, explanation, explained_by: by, explained_at: at } of rows) {
    const note = by === null || at === null ? null : { text: explanation, by, at };
    found[ord - 1] = { orderCode, positionid, note };
  }
  return found;
}

/** Stores a note, instead of an earlier one. The text of an erased attendee is not stored. */
export async function putDoubleNote(
  tx: Tx,
  { organizer, event, id }: EntityKey,
  note: { readonly position: number; readonly list: number; readonly text: string; readonly by: string },
): Promise<void> {
  await tx.run(sql`
    insert into double_note (organizer, event, scan, position, list, explanation, explained_by)
    select sent.organizer, sent.event, ${id}, ${note.position}, ${note.list},
           case when not ${attendeesAreErased(sql`sent`)} then ${note.text} end, ${note.by}
      from (values (${organizer}::text, ${event}::text)) as sent (organizer, event)
        on conflict (organizer, event, scan) do update
           set explanation = excluded.explanation, explained_by = excluded.explained_by,
               explained_at = excluded.explained_at`);
}

export async function deleteDoubleNote(tx: Tx, { organizer, event, id }: EntityKey): Promise<void> {
  await tx.run(sql`
    delete from double_note
     where double_note.organizer = ${organizer}
       and double_note.event = ${event}
       and double_note.scan = ${id}`);
}

/** Empties the next notes of an event, in the order of their ids. */
export async function forgetDoubleNotes(
  tx: Tx,
  { organizer, event }: EventKey,
  { limit }: { readonly limit: number },
): Promise<number> {
  return tx.run(sql`
    update double_note
       set explanation = null
     where double_note.organizer = ${organizer}
       and double_note.event = ${event}
       and double_note.scan in (select held.scan
                                  from double_note as held
                                 where held.organizer = ${organizer}
                                   and held.event = ${event}
                                   and held.explanation is not null
                                 order by held.scan
                                 limit ${limit}
                                   for no key update)`);
}

export async function countDoubleNotes(db: Queryable, { organizer, event }: EventKey): Promise<number> {
  const { count } = await db.one<{ count: number }>(sql`
    select count(*) as count
      from double_note
     where double_note.organizer = ${organizer}
       and double_note.event = ${event}
       and double_note.explanation is not null`);
  return count;
}
