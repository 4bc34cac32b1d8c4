-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- isTicketCode
select exists (
  select from unnest($1::text[]) as wanted (code)
    join position
      on position.organizer = $2
         and position.event = $3
         and lower(left(position.secret, 250)) = lower(left(wanted.code collate "C", 250))
         and position.secret = wanted.code) as found;
