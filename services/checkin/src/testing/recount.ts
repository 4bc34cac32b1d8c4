import type { Db } from "@tessera/kit/pg/database";
import { sql } from "@tessera/kit/pg/sql";

/** The counts computed from positions and scans, and the stored counts. */
export async function recount(db: Db): Promise<{ readonly counted: unknown[]; readonly recounted: unknown[] }> {
  const counted = await db.many(sql`
    select count_delta.organizer, count_delta.event, count_delta.list, count_delta.subevent, count_delta.item,
           count_delta.variation, count_delta.counted_as,
           sum(count_delta.positions)::integer as positions,
           sum(count_delta.entered)::integer as entered,
           sum(count_delta.inside)::integer as inside
      from count_delta
     group by count_delta.organizer, count_delta.event, count_delta.list, count_delta.subevent, count_delta.item,
              count_delta.variation, count_delta.counted_as
    having sum(count_delta.positions) <> 0 or sum(count_delta.entered) <> 0 or sum(count_delta.inside) <> 0
     order by 1, 2, 3, 4, 5, 6, 7`);
  const recounted = await db.many(sql`
    with latest as (
      select distinct on (scan.organizer, scan.event, scan.list, scan.position)
             scan.organizer, scan.event, scan.list, scan.position, scan.type
        from scan
       where scan.successful
       order by scan.organizer, scan.event, scan.list, scan.position, scan.at desc, scan.id desc
    ), scanned as (
      select scan.organizer, scan.event, scan.list, scan.position, bool_or(scan.type = 'entry') as entered
        from scan
       where scan.successful
       group by scan.organizer, scan.event, scan.list, scan.position
    ), counts as (
      select position.organizer, position.event, 0 as list, position.subevent, position.item, position.variation,
             position.canceled, position.order_status, position.valid_if_pending, 1 as positions, 0 as entered, 0 as inside
        from position
       union all
      select position.organizer, position.event, scanned.list, position.subevent, position.item, position.variation,
             position.canceled, position.order_status, position.valid_if_pending, 0,
             scanned.entered::integer, (latest.type = 'entry')::integer
        from scanned
        join latest using (organizer, event, list, position)
        join position
          on position.organizer = scanned.organizer and position.event = scanned.event and position.id = scanned.position
    )
    select counts.organizer, counts.event, counts.list::bigint as list, coalesce(counts.subevent, 0) as subevent, counts.item,
           coalesce(counts.variation, 0) as variation,
           case when counts.order_status = 'paid' then 'paid'
                when counts.valid_if_pending then 'pending_valid'
                else 'pending' end as counted_as,
           sum(counts.positions)::integer as positions,
           sum(counts.entered)::integer as entered,
           sum(counts.inside)::integer as inside
      from counts
     where not counts.canceled
       and counts.order_status in ('paid', 'pending')
     group by 1, 2, 3, 4, 5, 6, 7
    having sum(counts.positions) <> 0 or sum(counts.entered) <> 0 or sum(counts.inside) <> 0
     order by 1, 2, 3, 4, 5, 6, 7`);
  return { counted, recounted };
}
