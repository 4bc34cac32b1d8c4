import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { copyTable, rowsAs } from "@tessera/kit/pg/table";
import { fault } from "../faults.ts";
import { type EventKey, eventKey } from "./keys.ts";

/** The copy of events: only that they exist. */
export const events = copyTable("event", { key: eventKey, columns: {} });

export async function hasEvent(db: Queryable, { organizer, event }: EventKey): Promise<boolean> {
  const { found } = await db.one<{ found: boolean }>(sql`
    select exists (select from event where event.organizer = ${organizer} and event.event = ${event}) as found`);
  return found;
}

export async function requireEvent(db: Queryable, key: EventKey): Promise<void> {
  if (!(await hasEvent(db, key))) throw unknownEvent();
}

/** Locks events until the transaction ends: serializes changes of their layouts. */
export async function lockEvents(tx: Queryable, keys: readonly EventKey[]): Promise<readonly EventKey[]> {
  return tx.many<EventKey>(sql`
    select event.organizer, event.event
      from event
      join ${rowsAs("wanted", eventKey, keys)}
        on event.organizer = wanted.organizer and event.event = wanted.event
     order by event.organizer, event.event
       for no key update of event`);
}

/** Locks an event; throws if it is unknown here. */
export async function lockEvent(tx: Queryable, { organizer, event }: EventKey): Promise<void> {
  const found = await lockEvents(tx, [{ organizer, event }]);
  if (found.length === 0) throw unknownEvent();
}

function unknownEvent() {
  return fault("layout_event_not_found", "There is no such event here, or it has not arrived yet.");
}
