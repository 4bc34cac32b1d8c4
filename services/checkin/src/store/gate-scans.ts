import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import { alarmMemory, cellSeconds, type GateCell } from "../domain/gate-cells.ts";
import type { EventKey } from "./keys.ts";

/**
 * Counts the scans that were stored from this second on, by ten seconds. What the platform checks out by itself is no scan of a
 * gate, and what was scanned elsewhere says nothing of one. Scans that were made longer ago than alarms look back are left out,
 * by a condition that no index has: that of `at` would lead to all scans of these 20 minutes each time.
 */
export function countGateScans(
  db: Queryable,
  { organizer, event, from, now }: EventKey & { readonly from: number; readonly now: number },
): Promise<GateCell[]> {
  return db.many<GateCell>(sql`
    select floor(extract(epoch from scan.created_at) / ${cellSeconds})::bigint * ${cellSeconds} as "storedIn",
           floor(extract(epoch from least(scan.at, scan.created_at)) / ${cellSeconds})::bigint * ${cellSeconds} as "madeIn",
           scan.gate, scan.device_id as device, count(*) as scans, count(*) filter (where not scan.successful) as refused,
           count(*) filter (where scan.at > scan.created_at + interval '1 minute') as ahead,
           greatest(0, max(extract(epoch from scan.at - scan.created_at)))::double precision as "secondsAhead",
           max(least(scan.at, scan.created_at)) as "lastAt"
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.created_at >= to_timestamp(${from})
       and least(scan.at, scan.created_at) > to_timestamp(${now - alarmMemory})
       and not scan.auto_checked_in
       and scan.imported_id is null
     group by 1, 2, 3, 4`);
}

/** An event, with what there is to decide. */
export interface WatchedEvent extends EventKey {
  /** It had scans lately. */
  readonly isActive: boolean;
  /** It has alarms that hold. */
  readonly hasAlarms: boolean;
}

/** Reads the next events, and whether they have scans since a second and alarms that hold: by two looks into an index for each. */
export function findWatchedEvents(
  db: Queryable,
  { after, since, limit }: { readonly after: EventKey | undefined; readonly since: number; readonly limit: number },
): Promise<WatchedEvent[]> {
  return db.many(sql`
    select next.organizer, next.event, active.found is not null as "isActive", alarmed.found is not null as "hasAlarms"
      from (select event.organizer, event.event
              from event
             where (event.organizer, event.event) > (${after?.organizer ?? ""}, ${after?.event ?? ""})
             order by event.organizer, event.event
             limit ${limit}) as next
      left join lateral (select true as found
                           from scan
                          where (scan.organizer, scan.event, scan.created_at) >= (next.organizer, next.event, to_timestamp(${since}))
                            and (scan.organizer, scan.event) <= (next.organizer, next.event)
                          order by scan.organizer, scan.event, scan.created_at
                          limit 1) as active on true
      left join lateral (select true as found
                           from alarm
                          where alarm.ended_at is null
                            and ${withKey(sql`alarm.organizer, alarm.event`, sql`next.organizer, next.event`)}
                          limit 1) as alarmed on true`);
}
