-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- openSpan
select (select cluster.system_identifier::text from pg_control_system() as cluster)
       || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
       || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text from pg_stat_archiver as archiver), '')
       || '/' || (select database.oid::text from pg_database as database where database.datname = current_database()) as epoch,
       pg_current_snapshot()::text as snapshot, clock_timestamp() as "beganAt",
       coalesce((select scan.id
                   from scan
                  where (scan.organizer, scan.event, scan.id) >= ($1, $2, 0)
                    and (scan.organizer, scan.event, scan.id) <= ($3, $4, $5::bigint)
                  order by scan.organizer desc, scan.event desc, scan.id desc
                  limit 1), 0) as until;

-- readExportedScans
with looked_at as (
  select held.organizer, held.event, held.id, held.list, held.position, held.type, held.at, held.created_at, held.gate,
         held.device, held.device_id, held.auto_checked_in,
         held.successful or coalesce(held.annulled_at >= $1::timestamptz, false) as successful,
         case when not coalesce(held.annulled_at >= $2::timestamptz, false) then held.reason end as reason,
         case when not coalesce(held.annulled_at >= $3::timestamptz, false) then held.explanation end as explanation,
         sum($4 + coalesce(octet_length(held.explanation), 0))
           over (order by held.organizer, held.event, held.id rows unbounded preceding) as bytes
    from scan as held
   where (held.organizer, held.event, held.id) > ($5, $6, $7::bigint)
     and (held.organizer, held.event, held.id) <= ($8, $9, $10::bigint)
   order by held.organizer, held.event, held.id
   limit $11
), scan as materialized (
  select looked_at.organizer, looked_at.event, looked_at.id, looked_at.list, looked_at.position, looked_at.type, looked_at.at,
         looked_at.created_at, looked_at.gate, looked_at.device, looked_at.device_id, looked_at.auto_checked_in,
         looked_at.successful, looked_at.reason, looked_at.explanation
    from looked_at
   where looked_at.bytes <= $12
)
select (select max(scan.id) from scan) as last,
       coalesce(json_agg(json_build_array(
         scan.id, (extract(epoch from scan.at) * 1000000)::bigint, (extract(epoch from scan.created_at) * 1000000)::bigint, scan.type,
         scan.successful,
         scan.reason, scan.explanation, scan.list, scan.position, ticket.order_code, ticket.positionid, ticket.item,
         ticket.variation, ticket.subevent, case when not exists (select from erasure
                                                                   where erasure.organizer = $13
                                                                     and erasure.event = $14
                                                                     and erasure.is_taken_on
                                                                     and erasure.kinds && $15::text[]) then ticket.attendee_name end,
           scan.gate, coalesce(scan.device, scan.device_id),
         scan.device_id, scan.auto_checked_in) order by scan.id), '[]') as rows
  from scan
  left join lateral (
    select position.order_code, position.positionid, position.item, position.variation, position.subevent,
           position.attendee_name
      from position
     where (position.organizer, position.event, position.id) >= (scan.organizer, scan.event, scan.position)
       and (position.organizer, position.event, position.id) <= (scan.organizer, scan.event, scan.position)
     order by position.organizer, position.event, position.id
     limit 1) as ticket on true
 where scan.organizer = $16
   and scan.event = $17
   and ($18::timestamptz is null or scan.created_at >= $19) and ($20::timestamptz is null or scan.created_at < $21)
   and ($22::timestamptz is null or scan.at >= $23) and ($24::timestamptz is null or scan.at < $25)
   and ($26::boolean is null or scan.successful = $27)
   and ($28::text is null or scan.reason = $29)
   and ($30::bigint is null or scan.list = $31)
   and ($32::text is null or scan.type = $33)
   and ($34::bigint is null or scan.gate = $35)
   and ($36::bigint is null or coalesce(scan.device, scan.device_id) = $37)
   and ($38::boolean is null or scan.auto_checked_in = $39);

-- findDeletions
with moment as materialized (select (select cluster.system_identifier::text from pg_control_system() as cluster)
                                    || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8)
                                    || '/' || coalesce((select extract(epoch from archiver.stats_reset)::text
                                                          from pg_stat_archiver as archiver), '')
                                    || '/' || (select database.oid::text
                                                 from pg_database as database where database.datname = current_database()) as epoch,
                                    pg_current_snapshot() as snapshot)
select moment.epoch, moment.snapshot::text as snapshot,
       exists (select
                 from change
                where change.organizer = $1
                  and change.event = $2
                  and change.changed_in >= pg_snapshot_xmin($3::pg_snapshot)
                  and change.changed_in < pg_snapshot_xmax(moment.snapshot)
                  and pg_visible_in_snapshot(change.changed_in, moment.snapshot)
                  and not pg_visible_in_snapshot(change.changed_in, $4::pg_snapshot)
                  and case change.kind
                      when 'ticket' then (
                        select true
                          from position
                         where (position.organizer, position.event, position.id) >= ($5, $6, change.entity)
                           and (position.organizer, position.event, position.id) <= ($7, $8, change.entity)
                         order by position.organizer, position.event, position.id
                         limit 1) is null
                      when 'list' then (
                        select true
                          from list
                         where (list.organizer, list.event, list.id) >= ($9, $10, change.entity)
                           and (list.organizer, list.event, list.id) <= ($11, $12, change.entity)
                         order by list.organizer, list.event, list.id
                         limit 1) is null
                      when 'event' then (
                        select true
                          from event
                         where (event.organizer, event.event) >= ($13, $14)
                           and (event.organizer, event.event) <= ($15, $16) order by event.organizer, event.event
                         limit 1) is null
                      else false end) as "isCut"
  from moment;
