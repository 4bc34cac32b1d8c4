-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- lockPositions
select held.organizer, held.event, held.id, held.revision, held.subevent, held.item, held.variation,
       held.counted_as as "countedAs"
  from (select sent.organizer, sent.event, sent.id
          from unnest($1::text[], $2::text[], $3::bigint[]) as "sent" ("organizer", "event", "id")
         order by sent.organizer collate "C", sent.event collate "C", sent.id) as wanted
 cross join lateral (
   select position.organizer, position.event, position.id, position.revision, position.subevent, position.item,
          position.variation, position.counted_as
     from position
    where (position.organizer, position.event, position.id) >= (wanted.organizer, wanted.event, wanted.id)
      and (position.organizer, position.event, position.id) <= (wanted.organizer, wanted.event, wanted.id)
    order by position.organizer, position.event, position.id
    limit 1
      for update) as held;
