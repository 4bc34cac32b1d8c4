-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readQuotas
select quota.id,
       (quota.data ->> 'size')::bigint as size,
       quota.data -> 'items' as items,
       quota.data -> 'variations' as variations,
       (quota.data ->> 'subevent')::bigint as subevent,
       (quota.data -> 'closed')::boolean as closed
  from quota
 where quota.organizer = $1
   and quota.event = $2
   and (quota.id = any($3::bigint[])
        or coalesce((quota.data ->> 'subevent')::bigint, 0) = any($4::bigint[]));
