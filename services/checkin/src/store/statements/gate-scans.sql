-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countGateScans
select floor(extract(epoch from scan.created_at) / $1)::bigint * $2 as "storedIn",
       floor(extract(epoch from least(scan.at, scan.created_at)) / $3)::bigint * $4 as "madeIn",
       scan.gate, scan.device_id as device, count(*) as scans, count(*) filter (where not scan.successful) as refused,
       count(*) filter (where scan.at > scan.created_at + interval '1 minute') as ahead,
       greatest(0, max(extract(epoch from scan.at - scan.created_at)))::double precision as "secondsAhead",
       max(least(scan.at, scan.created_at)) as "lastAt"
  from scan
 where scan.organizer = $5
   and scan.event = $6
   and scan.created_at >= to_timestamp($7)
   and least(scan.at, scan.created_at) > to_timestamp($8)
   and not scan.auto_checked_in
   and scan.imported_id is null
 group by 1, 2, 3, 4;

-- findWatchedEvents
select next.organizer, next.event, active.found is not null as "isActive", alarmed.found is not null as "hasAlarms"
  from (select event.organizer, event.event
          from event
         where (event.organizer, event.event) > ($1, $2)
         order by event.organizer, event.event
         limit $3) as next
  left join lateral (select true as found
                       from scan
                      where (scan.organizer, scan.event, scan.created_at) >= (next.organizer, next.event, to_timestamp($4))
                        and (scan.organizer, scan.event) <= (next.organizer, next.event)
                      order by scan.organizer, scan.event, scan.created_at
                      limit 1) as active on true
  left join lateral (select true as found
                       from alarm
                      where alarm.ended_at is null
                        and (alarm.organizer, alarm.event) >= (next.organizer, next.event)
                        and (alarm.organizer, alarm.event) <= (next.organizer, next.event) order by alarm.organizer, alarm.event
                      limit 1) as alarmed on true;
