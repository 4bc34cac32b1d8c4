import { isErased } from "@tessera/events/personal-data/erased-kinds";
import type { Queryable } from "@tessera/kit/pg/database";
import { inMicroseconds, toTimestamp } from "@tessera/kit/pg/instants";
import { sql } from "@tessera/kit/pg/sql";
import { withKey } from "@tessera/kit/pg/with-key";
import type { ScanFilter } from "../domain/past-scan.ts";
import { clusterEpoch, type Moment } from "./changes.ts";
import type { EventKey } from "./keys.ts";
import { matching } from "./scan-history.ts";

/** What an export is of: the scans up to an id, as they were at an instant, in one database. */
export interface ExportedSpan extends Moment {
  /** The id of the newest scan; 0: there are no scans. */
  readonly until: number;
  readonly beganAt: number;
}

/** Looks at the newest scan. Ids are not stored in their order: one below it may come yet, and may be exported. */
export function openSpan(db: Queryable, { organizer, event }: EventKey): Promise<ExportedSpan> {
  return db.one(sql`
    select ${clusterEpoch} as epoch, pg_current_snapshot()::text as snapshot, clock_timestamp() as "beganAt",
           coalesce((select scan.id
                       from scan
                      where (scan.organizer, scan.event, scan.id) >= (${organizer}, ${event}, 0)
                        and (scan.organizer, scan.event, scan.id) <= (${organizer}, ${event}, ${Number.MAX_SAFE_INTEGER}::bigint)
                      order by scan.organizer desc, scan.event desc, scan.id desc
                      limit 1), 0) as until`);
}

export interface SpanMoment extends Moment {
  /** Whether a deletion has removed scans of the export. */
  readonly isCut: boolean;
}

/** Whether tickets, lists, or the event itself were deleted since a snapshot. */
export function findDeletions(
  db: Queryable,
  { organizer, event, since }: EventKey & { readonly since: string },
): Promise<SpanMoment> {
  return db.one(sql`
    with moment as materialized (select ${clusterEpoch} as epoch, pg_current_snapshot() as snapshot)
    select moment.epoch, moment.snapshot::text as snapshot,
           exists (select
                     from change
                    where change.organizer = ${organizer}
                      and change.event = ${event}
                      and change.changed_in >= pg_snapshot_xmin(${since}::pg_snapshot)
                      and change.changed_in < pg_snapshot_xmax(moment.snapshot)
                      and pg_visible_in_snapshot(change.changed_in, moment.snapshot)
                      and not pg_visible_in_snapshot(change.changed_in, ${since}::pg_snapshot)
                      and case change.kind
                          when 'ticket' then (
                            select true
                              from position
                             where ${withKey(sql`position.organizer, position.event, position.id`, sql`${organizer}, ${event}, change.entity`)}
                             limit 1) is null
                          when 'list' then (
                            select true
                              from list
                             where ${withKey(sql`list.organizer, list.event, list.id`, sql`${organizer}, ${event}, change.entity`)}
                             limit 1) is null
                          when 'event' then (
                            select true
                              from event
                             where ${withKey(sql`event.organizer, event.event`, sql`${organizer}, ${event}`)}
                             limit 1) is null
                          else false end) as "isCut"
      from moment`);
}

/** A scan with what the event knows of its ticket; an array takes half the time of named columns. */
export type ExportedRow = readonly [
  id: number,
  at: number,
  createdAt: number,
  type: string,
  successful: boolean,
  reason: string | null,
  explanation: string | null,
  list: number,
  position: number | null,
  order: string | null,
  positionid: number | null,
  item: number | null,
  variation: number | null,
  subevent: number | null,
  attendeeName: string | null,
  gate: number | null,
  device: number | null,
  deviceId: number | null,
  autoCheckedIn: boolean,
];

export interface ExportedScans {
  readonly rows: readonly ExportedRow[];
  /** The last scan that was looked at; null: there was none. */
  readonly last: number | null;
}

/** What most lines take at most, without the text that somebody typed at the gate. */
const usualBytes = 400;

/** So much is written of one read, however long the texts are. */
const mostBytes = 512 * 1024;

/** Scans that one read looks at: so many take some milliseconds. */
const mostScans = 1250;

/**
 * Reads the wanted ones of the next scans, in the order of their ids: at most so many are looked at, however few are wanted. A scan that was
 * annulled since the export began is as it was then. The place is a range of the primary key, which no other index returns sorted.
 */
export function readExportedScans(
  db: Queryable,
  filter: ScanFilter,
  { after, until, beganAt }: Pick<ExportedSpan, "until" | "beganAt"> & { readonly after: number },
): Promise<ExportedScans> {
  const { organizer, event } = filter;
  const isErasedOf = isErased({ organizer: sql`${organizer}`, event: sql`${event}` }, ["attendee_info"]);
  const isAnnulledSince = sql`coalesce(held.annulled_at >= ${toTimestamp(beganAt)}::timestamptz, false)`;
  return db.one(sql`
    with looked_at as (
      select held.organizer, held.event, held.id, held.list, held.position, held.type, held.at, held.created_at, held.gate,
             held.device, held.device_id, held.auto_checked_in,
             held.successful or ${isAnnulledSince} as successful,
             case when not ${isAnnulledSince} then held.reason end as reason,
             case when not ${isAnnulledSince} then held.explanation end as explanation,
             sum(${usualBytes} + coalesce(octet_length(held.explanation), 0))
               over (order by held.organizer, held.event, held.id rows unbounded preceding) as bytes
        from scan as held
       where (held.organizer, held.event, held.id) > (${organizer}, ${event}, ${after}::bigint)
         and (held.organizer, held.event, held.id) <= (${organizer}, ${event}, ${until}::bigint)
       order by held.organizer, held.event, held.id
       limit ${mostScans}
    ), scan as materialized (
      select looked_at.organizer, looked_at.event, looked_at.id, looked_at.list, looked_at.position, looked_at.type, looked_at.at,
             looked_at.created_at, looked_at.gate, looked_at.device, looked_at.device_id, looked_at.auto_checked_in,
             looked_at.successful, looked_at.reason, looked_at.explanation
        from looked_at
       where looked_at.bytes <= ${mostBytes}
    )
    select (select max(scan.id) from scan) as last,
           coalesce(json_agg(json_build_array(
             scan.id, ${inMicroseconds(sql`scan.at`)}, ${inMicroseconds(sql`scan.created_at`)}, scan.type, scan.successful,
             scan.reason, scan.explanation, scan.list, scan.position, ticket.order_code, ticket.positionid, ticket.item,
             ticket.variation, ticket.subevent, case when not ${isErasedOf} then ticket.attendee_name end, scan.gate, coalesce(scan.device, scan.device_id),
             scan.device_id, scan.auto_checked_in) order by scan.id), '[]') as rows
      from scan
      left join lateral (
        select position.order_code, position.positionid, position.item, position.variation, position.subevent,
               position.attendee_name
          from position
         where ${withKey(sql`position.organizer, position.event, position.id`, sql`scan.organizer, scan.event, scan.position`)}
         limit 1) as ticket on true
     where ${matching(filter)}`);
}
