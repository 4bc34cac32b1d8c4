import type { Queryable } from "@tessera/kit/pg/database";
import { forgetGoneEvent, isGone } from "@tessera/kit/pg/gone-events";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** Whether an event is not there at the moment. */
export async function isEventGone(db: Queryable, key: EventKey): Promise<boolean> {
  const { gone } = await db.one<{ gone: boolean }>(sql`select ${isGone(key)} as gone`);
  return gone;
}

/** Deletes the layouts of an event that is not there, with their assignments, and the note. */
export async function deleteGoneEvent(tx: Queryable, key: EventKey): Promise<void> {
  await tx.run(sql`
    delete from layout
     where layout.organizer = ${key.organizer}
       and layout.event = ${key.event}
       and ${isGone(key)}`);
  await forgetGoneEvent(tx, key);
}
