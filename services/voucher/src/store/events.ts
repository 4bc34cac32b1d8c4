import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { boolean, copyTable, document, text } from "@tessera/kit/pg/table";
import { fault } from "../faults.ts";
import type { EventKey } from "./keys.ts";

/** What voucher keeps of events. */
export const events = copyTable("event", {
  key: { organizer: text, event: text },
  columns: { hasSubevents: boolean, document },
});

/** What handlers ask an event for. */
export interface EventInfo {
  readonly hasSubevents: boolean;
}

export async function findEvent(db: Queryable, { organizer, event }: EventKey): Promise<EventInfo | undefined> {
  return db.maybeOne<EventInfo>(sql`
    select event.has_subevents as "hasSubevents"
      from event
     where event.organizer = ${organizer}
       and event.event = ${event}`);
}

/** Finds an event; throws where it is unknown here. */
export async function requireEvent(db: Queryable, key: EventKey): Promise<EventInfo> {
  const found = await findEvent(db, key);
  if (found === undefined) throw fault("event_not_found", "There is no such event here, or it has not arrived yet.");
  return found;
}
