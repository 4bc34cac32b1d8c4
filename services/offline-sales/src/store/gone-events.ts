import { forgetGoneEvent, isGone } from "@tessera/events/gone-events";
import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** Deletes the batches of an event that is not there, with their renderings, and the note. Their orders went with the event. */
export async function deleteGoneEvent(tx: Queryable, key: EventKey): Promise<void> {
  await tx.run(sql`
    delete from batch
     where batch.organizer = ${key.organizer}
       and batch.event = ${key.event}
       and ${isGone(key)}`);
  await forgetGoneEvent(tx, key);
}
