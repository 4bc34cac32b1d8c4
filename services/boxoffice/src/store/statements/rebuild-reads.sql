-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- nextKeys
select array["organizer"::text, "event"::text, "id"::text] as key
  from "position"
 where ("organizer", "event", "id") > ($1::text, $2::text, $3::bigint)
 order by "organizer", "event", "id"
 limit $4;
