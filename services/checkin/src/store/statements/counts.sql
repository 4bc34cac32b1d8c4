-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- movePresences
insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
select presence.organizer, presence.event, presence.list, step.subevent, step.item, step.variation, step.counted_as, 0,
       sum(step.sign), coalesce(sum(step.sign) filter (where presence.last_type = 'entry'), 0)
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::text[],
              $8::bigint[]) as "step" ("organizer", "event", "id", "subevent", "item", "variation", "counted_as", "sign")
  join presence
    on presence.organizer = step.organizer and presence.event = step.event and presence.position = step.id
 where presence.entries > 0
 group by presence.organizer, presence.event, presence.list, step.subevent, step.item, step.variation, step.counted_as;

-- countEachList
select list.id, list.name, list.subevent, list.soft_limit as "softLimit", list.hard_limit as "hardLimit", held.persons,
       coalesce(sum(count_delta.positions), 0)::bigint as positions,
       coalesce(sum(count_delta.entered), 0)::bigint as entered,
       coalesce(sum(count_delta.inside), 0)::bigint as inside
  from list
  left join persons_inside as held
    on held.organizer = list.organizer and held.event = list.event and held.list = list.id and held.is_counted
  left join count_delta on count_delta.organizer = list.organizer and count_delta.event = list.event
       and count_delta.list in (0, list.id)
       and (list.subevent is null or count_delta.subevent = list.subevent)
       and (list.all_products or count_delta.item = any(list.limit_products))
       and (list.include_pending or count_delta.counted_as <> 'pending')
 where list.organizer = $1
   and list.event = $2
 group by list.organizer, list.event, list.id, held.persons
 order by list.name, list.id
 limit $3;

-- countOnLists
select list.id,
       coalesce(sum(count_delta.positions), 0)::bigint as positions,
       coalesce(sum(count_delta.entered), 0)::bigint as entered
  from list
  left join count_delta on count_delta.organizer = list.organizer and count_delta.event = list.event
       and count_delta.list in (0, list.id)
       and (list.subevent is null or count_delta.subevent = list.subevent)
       and (list.all_products or count_delta.item = any(list.limit_products))
       and (list.include_pending or count_delta.counted_as <> 'pending')
 where list.organizer = $1
   and list.event = $2
   and list.id = any($3::bigint[])
 group by list.id;

-- countBuckets
select coalesce(sum(count_delta.positions) filter (where count_delta.list = 0), 0)::bigint as positions,
       coalesce(sum(count_delta.entered) filter (where count_delta.list = $1), 0)::bigint as entered
  from count_delta
 where count_delta.organizer = $2
   and count_delta.event = $3
   and count_delta.list in (0, $4)
   and count_delta.counted_as = any($5::text[])
   and count_delta.item = any($6::bigint[])
   and count_delta.variation = any($7::bigint[])
   and count_delta.subevent = any($8::bigint[]);
