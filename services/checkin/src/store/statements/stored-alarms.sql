-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- raiseAlarms
with held as materialized (
  select event.organizer, event.event
    from event
   where event.organizer = $1
     and event.event = $2
     for key share
)
insert into alarm (organizer, event, kind, gate, device, list, since_at, measured, usual)
select held.organizer, held.event, raised.kind, raised.gate, raised.device, raised.list, raised.since_at,
       raised.measured, raised.usual
  from held
 cross
  join unnest($3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::timestamptz[], $8::double precision[],
              $9::double precision[]) as "raised" ("kind", "gate", "device", "list", "since_at", "measured", "usual")
 order by raised.kind, raised.gate, raised.device, raised.list
    on conflict (organizer, event, kind, gate, device, list) where ended_at is null do nothing
returning alarm.organizer, alarm.event, alarm.id, alarm.kind, alarm.gate, alarm.device, alarm.list,
       alarm.raised_at as "raisedAt", alarm.ended_at as "endedAt", alarm.acknowledged_at as "acknowledgedAt",
       alarm.acknowledged_by as "acknowledgedBy", alarm.since_at as since, alarm.measured, alarm.usual;

-- pageAlarms
select alarm.organizer, alarm.event, alarm.id, alarm.kind, alarm.gate, alarm.device, alarm.list,
       alarm.raised_at as "raisedAt", alarm.ended_at as "endedAt", alarm.acknowledged_at as "acknowledgedAt",
       alarm.acknowledged_by as "acknowledgedBy", alarm.since_at as since, alarm.measured, alarm.usual
  from alarm
 where alarm.organizer = $1
   and alarm.event = $2
   and ($3::boolean is null or (alarm.ended_at is null) = $4)
   and ($5::text is null or alarm.kind = $6)
   and ($7::bigint is null or alarm.gate = $8)
 order by alarm.id desc
 limit $9 offset $10;
