-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findErased
select ended.event
  from unnest($1::text[], $2::timestamptz[]) as "ended" ("event", "ended_at")
 where exists (select
                 from shred_case
                where shred_case.organizer = $3 and shred_case.event = ended.event and shred_case.event_gone_at is null
                  and shred_case.kinds @> $4::text[]
                  and shred_case.requested_at > ended.ended_at
                  and shred_case.erased_at is not null);

-- findDue
select announced_erasure.organizer, announced_erasure.event, announced_erasure.ended_at as "endedAt",
       announced_erasure.announced_at as "announcedAt", announced_erasure.due_at as "dueAt", announced_erasure.problem,
       announced_erasure.export, announced_erasure.shred_case as "case", retention.days, retention.kinds,
       retention.instance, clock_timestamp() as now
  from announced_erasure
  join retention
    on retention.organizer = announced_erasure.organizer
 where announced_erasure.export is null
   and announced_erasure.due_at <= now()
   and announced_erasure.next_at <= now()
   and not exists (select
                     from announced_erasure as begun
                    where begun.organizer = announced_erasure.organizer
                      and begun.export is not null)
 order by announced_erasure.due_at
 limit 1;

-- pageUpcoming
select announced_erasure.organizer, announced_erasure.event, announced_erasure.ended_at as "endedAt",
       announced_erasure.announced_at as "announcedAt", announced_erasure.due_at as "dueAt", announced_erasure.problem,
       announced_erasure.export, announced_erasure.shred_case as "case", retention.days, retention.kinds,
       retention.instance, clock_timestamp() as now
  from announced_erasure
  join retention
    on retention.organizer = announced_erasure.organizer
 where announced_erasure.organizer = $1 and announced_erasure.due_at <= $2::timestamptz
 order by announced_erasure.due_at, announced_erasure.event
 limit $3
offset $4;
