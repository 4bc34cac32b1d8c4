import type { Queryable } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";
import type { RecentRefusal, ScanCell } from "../domain/scan-cells.ts";
import type { EventKey } from "./keys.ts";

/** The second of the database, since 1970. */
export async function readSecond(db: Queryable): Promise<number> {
  const { second } = await db.one<{ second: number }>(sql`
    select floor(extract(epoch from now()))::bigint as second`);
  return second;
}

/** Counts the scans that were stored from this second on. What the platform checks out by itself is no scan of a gate. */
export function countScansSince(
  db: Queryable,
  { organizer, event, since }: EventKey & { readonly since: number },
): Promise<ScanCell[]> {
  return db.many<ScanCell>(sql`
    select floor(extract(epoch from scan.created_at))::bigint as "storedIn",
           floor(extract(epoch from scan.at))::bigint as "madeIn", scan.gate, scan.device_id as device, scan.type,
           scan.reason, count(*) as scans, max(scan.at) as "lastAt"
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.created_at >= to_timestamp(${since})
       and not scan.auto_checked_in
       and scan.annulled_at is null
     group by 1, 2, 3, 4, 5, 6`);
}

/** Finds the newest refusals that were stored from this second on. */
export function findRefusalsSince(
  db: Queryable,
  { organizer, event, since, most }: EventKey & { readonly since: number; readonly most: number },
): Promise<RecentRefusal[]> {
  return db.many<RecentRefusal>(sql`
    select scan.id, scan.at, scan.list, scan.gate, scan.device_id as device, scan.reason
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.created_at >= to_timestamp(${since})
       and not scan.successful
       and scan.annulled_at is null
     order by scan.created_at desc, scan.id desc
     limit ${most}`);
}

export interface GateMinute {
  /** Its beginning. */
  readonly at: number;
  readonly gate: number | null;
  readonly entries: number;
  readonly exits: number;
  readonly refused: number;
}

/** Counts the scans of the last hour by the minute in which they were made. */
export function countLastHour(db: Queryable, { organizer, event }: EventKey): Promise<GateMinute[]> {
  return db.many<GateMinute>(sql`
    select date_trunc('minute', scan.at) as at, scan.gate,
           count(*) filter (where scan.successful and scan.type = 'entry') as entries,
           count(*) filter (where scan.successful and scan.type = 'exit') as exits,
           count(*) filter (where not scan.successful) as refused
      from scan
     where scan.organizer = ${organizer}
       and scan.event = ${event}
       and scan.at > now() - interval '1 hour'
       and scan.at <= now()
       and not scan.auto_checked_in
       and scan.annulled_at is null
     group by 1, 2
     order by 1, 2`);
}
