-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countRows, of records
select count(*)::bigint as count
  from answer_file as held
  join position
    on position.organizer = held.organizer and position.event = held.event and position.id = held.position
  join "order"
    on "order".organizer = position.organizer
       and "order".event = position.event
       and "order".code = position.order_code
 where held.organizer = $1
   and held.event = $2
   and not exists (select
                     from (select max(erasure.requested_at) as last_at
                             from erasure
                            where erasure.organizer = "order".organizer
                              and erasure.event = "order".event
                              and 'question_answers' = any(erasure.kinds)) as erased
                    where ("order".data ->> 'datetime')::timestamptz >= erased.last_at);

-- countRows, of gates
select count(*)::bigint as count
  from gate_answer as held
  join position
    on position.organizer = held.organizer and position.event = held.event and position.id = held.position
  join "order"
    on "order".organizer = position.organizer
       and "order".event = position.event
       and "order".code = position.order_code
 where held.organizer = $1
   and held.event = $2
   and not exists (select
                     from (select max(erasure.requested_at) as last_at
                             from erasure
                            where erasure.organizer = "order".organizer
                              and erasure.event = "order".event
                              and 'question_answers' = any(erasure.kinds)) as erased
                    where ("order".data ->> 'datetime')::timestamptz >= erased.last_at);

-- nextEndings
select event.slug as event, (event.data ->> 'live')::boolean as live,
       (event.data ->> 'has_subevents')::boolean as "isSeries",
       coalesce(event.data ->> 'timezone', event.settings ->> 'timezone', 'UTC') as "timeZone",
       (extract(epoch from clock_timestamp()) * 1000000)::bigint as now,
       case when (event.data ->> 'has_subevents')::boolean
            then (select max(greatest((extract(epoch from coalesce(subevent.data ->> 'date_to',
                                                                   subevent.data ->> 'date_from')::timestamptz) * 1000000)::bigint,
                                      (extract(epoch from (subevent.data ->> 'date_from')::timestamptz) * 1000000)::bigint))
                    from subevent
                   where subevent.organizer = event.organizer
                     and subevent.event = event.slug)
            else (extract(epoch from coalesce(event.data ->> 'date_to',
                                              event.data ->> 'date_from')::timestamptz) * 1000000)::bigint end as "lastAt"
  from (select next.organizer, next.slug, next.data, next.settings
          from event as next
         where next.organizer = $1
           and next.slug > $2
           and not next.is_removed
         order by next.slug
         limit $3) as event
 order by event.slug;
