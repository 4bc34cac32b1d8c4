-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countOrdersWith
select wanted.kind, count(*) as count
  from "order"
 cross join unnest($1::text[], $2::jsonpath[]) as wanted (kind, test)
 where "order".organizer = $3
   and "order".event = $4
   and jsonb_path_exists("order".data, $5::jsonpath)
   and case when jsonb_path_exists("order".data, wanted.test) then not exists (select
                                                                                 from (select max(erasure.requested_at) as last_at
                                                                                         from erasure
                                                                                        where erasure.organizer = "order".organizer
                                                                                          and erasure.event = "order".event
                                                                                          and wanted.kind = any(erasure.kinds)) as erased
                                                                                where ("order".data ->> 'datetime')::timestamptz >= erased.last_at) end
 group by wanted.kind;
