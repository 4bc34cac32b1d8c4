-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- lockTicketLists
select list.id
  from list
  join (select presence.organizer, presence.event, presence.list
          from unnest($1::text[], $2::text[], $3::bigint[]) as "ticket" ("organizer", "event", "id")
          join presence
            on presence.organizer = ticket.organizer and presence.event = ticket.event
               and presence.position = ticket.id
         union
        select named.organizer, named.event, named.list
          from unnest($4::text[], $5::text[], $6::bigint[], $7::bigint[]) as "named" ("organizer", "event", "position", "list")
         union
        select scan.organizer, scan.event, scan.list
          from unnest($8::text[], $9::text[], $10::bigint[]) as "deleted" ("organizer", "event", "id")
          join scan
            on scan.organizer = deleted.organizer and scan.event = deleted.event and scan.position = deleted.id) as concerned
    on concerned.organizer = list.organizer and concerned.event = list.event and concerned.list = list.id
 order by list.organizer, list.event, list.id
   for key share of list;
