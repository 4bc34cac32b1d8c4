import { forgetGoneEvent, isGone } from "@tessera/events/gone-events";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** Deletes the layouts of a deleted event, with their assignments. */
export async function deleteLayoutsOf(tx: Queryable, { organizer, event }: EventKey): Promise<void> {
  await tx.run(sql`
    delete from layout
     where layout.organizer = ${organizer}
       and layout.event = ${event}`);
}

/** Deletes the layouts of a missing event, with their assignments, and the note. */
export async function deleteGoneEvent(tx: Queryable, key: EventKey): Promise<void> {
  await tx.run(sql`
    delete from layout
     where layout.organizer = ${key.organizer}
       and layout.event = ${key.event}
       and ${isGone(key)}`);
  await forgetGoneEvent(tx, key);
}
