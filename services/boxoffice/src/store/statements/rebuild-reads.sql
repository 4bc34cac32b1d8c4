-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- nextKeys
select array["organizer"::text, "event"::text, "id"::text] as key
  from "position"
 where $1::boolean or ("organizer", "event", "id") > ($2::text, $3::text, $4::bigint)
 order by "organizer", "event", "id"
 limit $5;
