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

-- readEnds
select wanted.organizer, wanted.event, wanted.position, max(kept.until_at) as "endedAt"
  from unnest($1::text[], $2::text[], $3::bigint[]) as "wanted" ("organizer", "event", "position")
 cross join lateral (
   select former_use.until_at
     from former_use
    where (former_use.organizer, former_use.event, former_use.position) >= (wanted.organizer, wanted.event, wanted.position)
      and (former_use.organizer, former_use.event, former_use.position) <= (wanted.organizer, wanted.event, wanted.position)
    order by former_use.organizer, former_use.event, former_use.position) as kept
 group by wanted.organizer, wanted.event, wanted.position;
