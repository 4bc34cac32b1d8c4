import type { Fault } from "@tessera/kit/fault";
import type { Queryable } from "@tessera/kit/pg/database";
import type { CheckinList } from "../domain/list.ts";
import { fault } from "../faults.ts";
import { type EventInfo, findEvent } from "../store/events.ts";
import type { EntityKey, EventKey } from "../store/keys.ts";
import { findList } from "../store/lists.ts";

/** Finds an event, or says that it is not here. */
export async function requireEvent(db: Queryable, { organizer, event }: EventKey): Promise<EventInfo> {
  const found = await findEvent(db, { organizer, event });
  if (found === undefined) {
    throw fault("event_not_found", "There is no such event here, or it has not arrived yet.");
  }
  return found;
}

/** Finds a list of an event, or says that the event has none such. */
export async function requireList(db: Queryable, { organizer, event, id }: EntityKey): Promise<CheckinList> {
  const found = await findList(db, { organizer, event, id });
  if (found === undefined) throw listNotFound();
  return found;
}

export function listNotFound(): Fault {
  return fault("checkin_list_not_found", "The event has no such check-in list.");
}
