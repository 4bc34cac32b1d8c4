-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findGoneEvents
delete from gone_event where not gone_event.is_deleted and exists (select from event
                                                                    where event.organizer = gone_event.organizer
                                                                      and event.event = gone_event.event);

-- findGoneEvents
update gone_event
   set is_deleted = true
 where not gone_event.is_deleted
   and gone_event.noted_at < now() - interval '1 day'
   and not exists (select from event
                    where event.organizer = gone_event.organizer
                      and event.event = gone_event.event);

-- findGoneEvents
select gone_event.organizer, gone_event.event
  from gone_event
 where gone_event.is_deleted
 order by gone_event.noted_at, gone_event.organizer, gone_event.event;
