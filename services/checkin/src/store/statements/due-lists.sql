-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- moveExit
update list
   set exit_all_at = $1::timestamptz,
       exit_local_time = $2
 where (list.organizer, list.event, list.id) = ($3, $4, $5::bigint)
   and list.exit_all_at = $6::timestamptz
   and list.all_products = $7
   and list.limit_products = $8::bigint[]
   and list.subevent is not distinct from $9::bigint;
