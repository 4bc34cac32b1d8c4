import { type Sql, sql } from "@tessera/kit/pg/sql";
import type { Value } from "./places.ts";
import { fewTickets, type PositionFilter } from "./position-filter.ts";

/** The tickets whose last scan on the list was the first of all, or the last. */
interface WantedScans extends PositionFilter {
  readonly most: number;
  readonly newestFirst: boolean;
  readonly isReversed: boolean;
  /** The instant at which they begin, or null. */
  readonly from: Value;
}

/** At most so many scans of an event are read, which takes a moment. */
const mostScans = 30_000;

/**
 * Those whose last scan is among the first scans of the event: no index has the presences by time, because each scan would
 * have to change it. At the edge there may be scans of the same instant that are not read.
 */
export function amongScans({ organizer, event, list, most, newestFirst, from }: WantedScans): readonly Sql[] {
  const read = 4 * most + fewTickets;
  if (read > mostScans) return [];
  const direction = newestFirst ? sql`desc` : sql`asc`;
  const scans = sql`
             from scan
            where scan.organizer = ${organizer} and scan.event = ${event} ${reaches(sql`scan.at`, { from, newestFirst })}
            order by scan.at ${direction}, scan.id ${direction}`;
  const none = newestFirst ? sql`'-infinity'` : sql`'infinity'`;
  return [
    sql`ticket.id = any (array(
           select first.position
             from (select scan.position, scan.list, scan.successful ${scans} limit ${read}) as first
            where first.list = ${list.id} and first.successful))
       and presence.last_at ${newestFirst ? sql`>` : sql`<`}
           coalesce((select scan.at ${scans} limit 1 offset ${read}), ${none}::timestamptz)`,
  ];
}

/** The first of all that were scanned, of which the filter may leave some out: they are sorted without their tickets. */
export function amongPresences({ organizer, event, list, most, newestFirst, isReversed, from }: WantedScans): Sql {
  return sql`ticket.id = any (array(
           select first.position
             from presence as first
            where first.organizer = ${organizer} and first.event = ${event} and first.list = ${list.id}
                  ${reaches(sql`first.last_at`, { from, newestFirst })}
            order by first.last_at ${newestFirst ? sql`desc` : sql`asc`},
                     first.position ${isReversed ? sql`asc` : sql`desc`}
            limit ${2 * most + fewTickets}))`;
}

function reaches(at: Sql, { from, newestFirst }: Pick<WantedScans, "from" | "newestFirst">): Sql {
  return from === null ? sql`` : sql`and ${at} ${newestFirst ? sql`<=` : sql`>=`} ${from}::timestamptz`;
}
