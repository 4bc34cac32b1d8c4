import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { boolean, copyTable, document, instant, json } from "@tessera/kit/pg/table";
import { type EntityKey, entityKey } from "./keys.ts";

/** The copy of the dates of event series. */
export const subevents = copyTable("subevent", {
  key: entityKey,
  columns: {
    name: json<Readonly<Record<string, string>>>(),
    active: boolean,
    dateFrom: instant.orNull,
    dateTo: instant.orNull,
    dateAdmission: instant.orNull,
    document,
  },
});

export async function findSubevent(
  db: Queryable,
  { organizer, event, id }: EntityKey,
): Promise<{ readonly name: Readonly<Record<string, string>> } | undefined> {
  return db.maybeOne<{ name: Record<string, string> }>(sql`
    select subevent.name
      from subevent
     where subevent.organizer = ${organizer}
       and subevent.event = ${event}
       and subevent.id = ${id}`);
}
