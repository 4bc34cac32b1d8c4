import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { copyTable, text } from "@tessera/kit/pg/table";

export interface EventName {
  readonly organizer: string;
  readonly event: string;
}

/** The copy of events: only that they exist. */
export const events = copyTable("event", { key: { organizer: text, event: text }, columns: {} });

export async function hasEvent(db: Queryable, organizer: string, event: string): Promise<boolean> {
  const { known } = await db.one<{ known: boolean }>(sql`
    select exists (select from event where event.organizer = ${organizer} and event.event = ${event}) as known`);
  return known;
}

/** Returns which of these events there are. */
export async function findEvents(
  db: Queryable,
  organizer: string,
  names: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await db.many<{ event: string }>(sql`
    select event.event
      from event
     where event.organizer = ${organizer}
       and event.event = any (${names}::text[])`);
  return new Set(rows.map(({ event }) => event));
}
