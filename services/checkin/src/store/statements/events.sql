-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findEvent
select event.name, event.locale, event.timezone, event.has_subevents as "hasSubevents", event.pdf_enabled as "pdfEnabled",
       event.pdf_for_addons as addons, event.pdf_for_non_admission as "nonAdmission",
       event.pdf_while_pending as pending
  from event
 where event.organizer = $1
   and event.event = $2;
