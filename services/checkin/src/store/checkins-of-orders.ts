import type { Queryable } from "@tessera/kit/pg/database";
import { toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import type { PastCheckin, PastScan } from "../domain/past-scan.ts";
import type { EventKey } from "./keys.ts";
import { mostCheckins, newestScans } from "./ticket-rows.ts";

/**
 * The time of a scan is that of the beginning of its transaction, so a scan that is committed later may have an earlier
 * time than one that was read. Each scan is stored by one statement, which Postgres ends after three seconds, and scans
 * made elsewhere by a few of half a minute at most. Two minutes more are looked at, which also covers clocks of databases that
 * differ by some seconds. A caller may get a ticket again, and misses none.
 */
const marginMicros = 120_000_000;

/** Times before have no scan, and a margin would leave the calendar. */
const earliest = Date.UTC(2000, 0, 1) * 1000;

/** Finds the tickets of which a scan succeeded or was annulled since a time; undefined: there are more than `most` scans. */
export async function findScannedSince(
  db: Queryable,
  { organizer, event }: EventKey,
  { since, most }: { readonly since: number; readonly most: number },
): Promise<number[] | undefined> {
  const from = toTimestamp(Math.max(earliest, since) - marginMicros);
  const { count, positions } = await db.one<{ count: number; positions: number[] | null }>(sql`
    with recent as materialized (
      (select scan.position, scan.successful as is_told
         from scan
        where scan.organizer = ${organizer}
          and scan.event = ${event}
          and scan.created_at >= ${from}::timestamptz
        order by scan.created_at, scan.id
        limit ${most + 1})
       union all
      (select scan.position, true
         from scan
        where scan.organizer = ${organizer}
          and scan.event = ${event}
          and scan.annulled_at >= ${from}::timestamptz
        order by scan.annulled_at
        limit ${most + 1})
    )
    select count(*) as count, array_agg(distinct recent.position) filter (where recent.is_told) as positions
      from recent`);
  return count > most ? undefined : (positions ?? []);
}

export interface OrderCheckin extends PastCheckin, Pick<PastScan, "list" | "createdAt"> {
  readonly position: number;
}

/** Reads the newest successful scans of tickets, newest first: at most `mostCheckins` of a ticket on each list. */
export function readCheckins(
  db: Queryable,
  { organizer, event }: EventKey,
  positions: readonly number[],
): Promise<OrderCheckin[]> {
  return db.many<OrderCheckin>(sql`
    select presence.position, presence.list, scan.id, scan.type, scan.at, scan.gate, scan.device,
           scan.device_id as "deviceId", scan.auto_checked_in as "autoCheckedIn", scan.created_at as "createdAt"
      from unnest(${positions}::bigint[]) as asked (id)
     cross join lateral (
       select presence.organizer, presence.event, presence.position, presence.list
         from presence
        where presence.position = asked.id
          and presence.organizer = ${organizer}
          and presence.event = ${event}
        order by presence.position, presence.list) as presence
     cross join lateral (${newestScans({ list: sql`presence.list`, most: sql`${mostCheckins}`, also: sql`, scan.created_at` })}) as scan
     order by presence.position, scan.at desc, scan.id desc`);
}
