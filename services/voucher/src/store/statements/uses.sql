-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readUses
select "current_use"."organizer", "current_use"."event", "current_use"."position", "current_use"."revision", "current_use"."voucher",
       "current_use"."since_at", "current_use"."counts", "current_use"."budget"
  from unnest($1::text[], $2::text[], $3::bigint[]) as "wanted" ("organizer", "event", "position")
 cross
  join lateral (select "current_use"."organizer", "current_use"."event", "current_use"."position", "current_use"."revision",
                       "current_use"."voucher", "current_use"."since_at", "current_use"."counts", "current_use"."budget"
                  from current_use
                 where (current_use.organizer, current_use.event, current_use.position) >= (wanted.organizer, wanted.event, wanted.position)
                   and (current_use.organizer, current_use.event, current_use.position) <= (wanted.organizer, wanted.event, wanted.position)
                 order by current_use.organizer, current_use.event, current_use.position
                 limit 1) as current_use;
