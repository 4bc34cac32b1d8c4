-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findEvent
select event.has_subevents as "hasSubevents"
  from event
 where event.organizer = $1
   and event.event = $2
   and not exists (select from gone_event
                    where gone_event.organizer = event.organizer
                      and gone_event.event = event.event
                      and gone_event.is_deleted);

-- lockEvents
select event.organizer, event.event
  from event
  join unnest($1::text[], $2::text[]) as "wanted" ("organizer", "event")
    on wanted.organizer = event.organizer and wanted.event = event.event
 where not exists (select from gone_event
                    where gone_event.organizer = event.organizer
                      and gone_event.event = event.event
                      and gone_event.is_deleted)
 order by event.organizer, event.event
   for key share of event;
