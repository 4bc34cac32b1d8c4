import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { copyTable } from "@tessera/kit/pg/table";
import { fault } from "../faults.ts";
import { type EventKey, eventKey } from "./keys.ts";

/** What offline-sales keeps of events: that they exist. */
export const events = copyTable("event", { key: eventKey, columns: {} });

/** Throws where an event is unknown here. */
export async function requireEvent(db: Queryable, { organizer, event }: EventKey): Promise<void> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from event where event.organizer = ${organizer} and event.event = ${event}) as found`);
  if (!found) throw unknownEvent();
}

/** Locks an event until the transaction ends, so that it is not deleted before; false: it is gone. */
export async function lockEvent(tx: Queryable, { organizer, event }: EventKey): Promise<boolean> {
  const row = await tx.maybeOne(sql`
    select
      from event
     where event.organizer = ${organizer}
       and event.event = ${event}
       for key share`);
  return row !== undefined;
}

function unknownEvent() {
  return fault("batch_event_not_found", "There is no such event here, or it has not arrived yet.");
}
