import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { EventKey } from "./keys.ts";

/** A position with a successful scan. */
interface FirstEntry {
  readonly position: number;
  /** The earliest entry on any list; null: there are only exits. */
  readonly firstEntryAt: number | null;
}

/**
 * Reads the first entries of these positions and their add-ons; positions without a successful scan are left out.
 *
 * Presences lead to the lists, and the index of scans gives the first entry on each. The sum of each ticket is a
 * subquery: a plan with a join could read the presences of all events.
 */
export async function readFirstEntries(
  db: Queryable,
  { organizer, event }: EventKey,
  positions: readonly number[],
): Promise<FirstEntry[]> {
  return db.many<FirstEntry>(sql`
    select ticket.id as position, scanned.first_entry_at as "firstEntryAt"
      from (select asked.id
              from unnest(${positions}::bigint[]) as asked (id)
             union
            select addon.id
              from position as addon
             where addon.organizer = ${organizer}
               and addon.event = ${event}
               and addon.addon_to = any(${positions}::bigint[])) as ticket
     cross join lateral (
       select count(*) as lists, min(entry.at) as first_entry_at
         from presence
         left join lateral (
           select scan.at
             from scan
            where scan.position = presence.position
              and scan.list = presence.list
              and scan.event = presence.event
              and scan.organizer = presence.organizer
              and scan.successful
              and scan.type = 'entry'
            order by scan.at
            limit 1) as entry
           on presence.entries > 0
        where presence.position = ticket.id
          and presence.last_type is not null
          and presence.organizer = ${organizer}
          and presence.event = ${event}) as scanned
     where scanned.lists > 0`);
}
