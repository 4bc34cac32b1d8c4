-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- withoutTests
select
  from "order"
 where "order".organizer = $1 and "order".event = $2
   and ("order".data -> 'testmode')::boolean
 order by "order".revision
 limit 1;

-- countOrders
select (select count(*)
          from "order"
         where "order".organizer = $1
           and "order".event = $2
           and "order".changed_at >= $3::timestamptz) + (select count(*) from (select distinct position.order_code
                                                                                 from unnest($4::bigint[]) as wanted (id)
                                                                                cross join lateral (
                                                                                  select position.order_code
                                                                                    from position
                                                                                   where (position.organizer, position.event, position.id)
                                                                                         >= ($5, $6, wanted.id)
                                                                                     and (position.organizer, position.event, position.id)
                                                                                         <= ($7, $8, wanted.id)
                                                                                   order by position.organizer, position.event, position.id
                                                                                   limit 1) as position) as named
                                                          cross join lateral (
                                                            select "order".organizer, "order".event, "order".code, "order".status,
                                                                   "order".data, "order".changed_at
                                                              from "order"
                                                             where ("order".organizer, "order".event, "order".code)
                                                                   >= ($9, $10, named.order_code)
                                                               and ("order".organizer, "order".event, "order".code)
                                                                   <= ($11, $12, named.order_code)
                                                             order by "order".organizer, "order".event, "order".code
                                                             limit 1) as "order"
                                                          where "order".organizer = $13
                                                            and "order".event = $14 and "order".changed_at < $15::timestamptz) as count;

-- pageCodes
select page.id
  from ((
    select "order".code as id, rtrim("order".data ->> 'datetime', 'Z') collate "C" as "by0", "order".code as "by1"
      from "order"
     where "order".organizer = $1 and "order".event = $2 and "order".changed_at >= $3::timestamptz
     order by rtrim("order".data ->> 'datetime', 'Z') collate "C" desc, "order".code desc limit $4)
        union all
        (
          select "order".code as id, rtrim("order".data ->> 'datetime', 'Z') collate "C" as "by0", "order".code as "by1"
            from (select distinct position.order_code
                    from unnest($5::bigint[]) as wanted (id)
                   cross join lateral (
                     select position.order_code
                       from position
                      where (position.organizer, position.event, position.id) >= ($6, $7, wanted.id)
                        and (position.organizer, position.event, position.id) <= ($8, $9, wanted.id)
                      order by position.organizer, position.event, position.id
                      limit 1) as position) as named
           cross join lateral (
             select "order".organizer, "order".event, "order".code, "order".status, "order".data, "order".changed_at
               from "order"
              where ("order".organizer, "order".event, "order".code) >= ($10, $11, named.order_code)
                and ("order".organizer, "order".event, "order".code) <= ($12, $13, named.order_code)
              order by "order".organizer, "order".event, "order".code
              limit 1) as "order"
           where "order".organizer = $14 and "order".event = $15 and "order".changed_at < $16::timestamptz
           order by rtrim("order".data ->> 'datetime', 'Z') collate "C" desc, "order".code desc limit $17)) as page
 order by page."by0" desc, page."by1" desc
 limit $18 offset $19;

-- codesBehind
select set_config('enable_sort', $1, true);

-- codesBehind
select "order".code as id
  from "order"
 where "order".organizer = $1 and "order".event = $2 and (rtrim("order".data ->> 'datetime', 'Z') collate "C", "order".code) < ($3, $4)
 order by rtrim("order".data ->> 'datetime', 'Z') collate "C" desc, "order".code desc limit $5 offset $6;

-- readAsOf, during a change
select case when not exists (select from pg_locks
                              where pg_locks.locktype = 'advisory'
                                and pg_locks.granted
                                and pg_locks.database = (select pg_database.oid from pg_database
                                                          where pg_database.datname = current_database())
                                and (pg_locks.classid::bigint << 32) | pg_locks.objid::bigint = hashtextextended($1, 0))
            then statement_timestamp()
       end as at;

-- readAsOf, during a change
select "order".changed_at as at
  from "order"
 where "order".organizer = $1 and "order".event = $2
 order by "order".changed_at desc
 limit 1;
