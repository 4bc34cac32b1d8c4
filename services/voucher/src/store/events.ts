import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { boolean, copyTable, document, rowsAs } from "@tessera/kit/pg/table";
import { fault } from "../faults.ts";
import { isBeingRemoved } from "./gone-events.ts";
import { type EventKey, eventKey } from "./keys.ts";

export const events = copyTable("event", { key: eventKey, columns: { hasSubevents: boolean, document } });

/** The fields of an event that handlers use. */
export interface EventInfo {
  readonly hasSubevents: boolean;
}

/** Finds an event, unless vouchers of a deleted event with its slug are left. */
export async function findEvent(db: Queryable, { organizer, event }: EventKey): Promise<EventInfo | undefined> {
  return db.maybeOne<EventInfo>(sql`
    select event.has_subevents as "hasSubevents"
      from event
     where event.organizer = ${organizer}
       and event.event = ${event}
       and not ${isBeingRemoved(sql`event`)}`);
}

/** Finds an event; throws if it is unknown here. */
export async function requireEvent(db: Queryable, key: EventKey): Promise<EventInfo> {
  const found = await findEvent(db, key);
  if (found === undefined) throw noSuchEvent();
  return found;
}

/**
 * Locks events while vouchers are added. The fact of their deletion waits, finds all vouchers, and no later one is
 * added. Lock order: events, then vouchers, as in that fact.
 */
export async function lockEvents(tx: Queryable, keys: readonly EventKey[]): Promise<EventKey[]> {
  return tx.many<EventKey>(sql`
    select event.organizer, event.event
      from event
      join ${rowsAs("wanted", eventKey, keys)}
        on wanted.organizer = event.organizer and wanted.event = event.event
     where not ${isBeingRemoved(sql`event`)}
     order by event.organizer, event.event
       for key share of event`);
}

/** Locks an event while vouchers are added; throws if it is unknown here. */
export async function lockEvent(tx: Queryable, key: EventKey): Promise<void> {
  if ((await lockEvents(tx, [key])).length === 0) throw noSuchEvent();
}

function noSuchEvent() {
  return fault("voucher_event_not_found", "There is no such event here, or it has not arrived yet.");
}
