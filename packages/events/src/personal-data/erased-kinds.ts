import type { IsErased } from "@tessera/kit/bus/dead-letter";
import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "../entity-key.ts";

/**
 * Whether one of these kinds of personal data, or any kind, is being erased, or was erased, of an event: a condition for
 * statements that must not bring it back. A case that was not requested yet may be taken back, so what comes meanwhile is
 * stored: it is erased with the rest, or it stays.
 */
export function isErased(
  { organizer, event }: { readonly organizer: Sql; readonly event: Sql },
  kinds: readonly string[] | "any",
): Sql {
  return sql`
    exists (select from erasure
             where erasure.organizer = ${organizer}
               and erasure.event = ${event}
               and erasure.is_taken_on
               and ${kinds === "any" ? sql`cardinality(erasure.kinds) > 0` : sql`erasure.kinds && ${kinds}::text[]`})`;
}

/** The same for the event that the key of a message names. What a message from outside is about stands behind its event. */
export const isErasedByKey: IsErased = (key, kinds) => {
  const [organizer = "", rest = ""] = key.split("/", 2);
  const [event = ""] = rest.split("#", 1);
  return isErased({ organizer: sql`${organizer}`, event: sql`${event}` }, kinds);
};

/** How the keys of messages about an event begin: those of its entities, and its own with what a message from outside is about. */
export function keysOf({ organizer, event }: EventKey): readonly string[] {
  return [`${organizer}/${event}/`, `${organizer}/${event}#`];
}
