-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- pageLists
select "list"."organizer", "list"."event", "list"."id", "list"."name", "list"."all_products", "list"."limit_products", "list"."subevent",
       "list"."include_pending", "list"."allow_multiple_entries", "list"."allow_entry_after_exit", "list"."rules", "list"."exit_all_at",
       "list"."addon_match", "list"."ignore_in_statistics", "list"."consider_tickets_used", "list"."exit_set_at", "list"."soft_limit",
       "list"."hard_limit", "list"."takes_from" from list
  left join subevent
    on subevent.organizer = list.organizer and subevent.event = list.event and subevent.id = list.subevent
 where list.organizer = $1
   and list.event = $2
   and ($3::bigint is null or list.subevent = $4)
   and ($5::bigint is null or list.subevent is null or list.subevent = $6)
   and ($7::timestamptz is null
        or coalesce(subevent.date_to_at, subevent.date_from_at) is null
        or coalesce(subevent.date_to_at, subevent.date_from_at) >= $8::timestamptz)
 order by subevent.date_from_at, list.name, list.id
 limit $9 offset $10;

-- pageLists, in an order
select "list"."organizer", "list"."event", "list"."id", "list"."name", "list"."all_products", "list"."limit_products", "list"."subevent",
       "list"."include_pending", "list"."allow_multiple_entries", "list"."allow_entry_after_exit", "list"."rules", "list"."exit_all_at",
       "list"."addon_match", "list"."ignore_in_statistics", "list"."consider_tickets_used", "list"."exit_set_at", "list"."soft_limit",
       "list"."hard_limit", "list"."takes_from" from list
  left join subevent
    on subevent.organizer = list.organizer and subevent.event = list.event and subevent.id = list.subevent
 where list.organizer = $1
   and list.event = $2
   and ($3::bigint is null or list.subevent = $4)
   and ($5::bigint is null or list.subevent is null or list.subevent = $6)
   and ($7::timestamptz is null
        or coalesce(subevent.date_to_at, subevent.date_from_at) is null
        or coalesce(subevent.date_to_at, subevent.date_from_at) >= $8::timestamptz)
 order by subevent.date_from_at desc, list.name, list.id desc
 limit $9 offset $10;

-- removeList
delete from list
 where list.organizer = $1
   and list.event = $2
   and list.id = $3;

-- removeList
delete from presence
 using (select distinct scan.position
          from scan
         where scan.organizer = $1
           and scan.event = $2
           and scan.list = $3
           and (scan.successful or scan.annulled_at is not null)) as scanned
 where presence.position = scanned.position
   and presence.list = $4
   and presence.event = $5
   and presence.organizer = $6;

-- removeList
delete from count_delta as held
 where held.organizer = $1
   and held.event = $2
   and held.list = $3;

-- removeList
delete from double_note as held
 where held.organizer = $1
   and held.event = $2
   and held.list = $3;

-- removeList
delete from persons_inside as held
 where held.organizer = $1
   and held.event = $2
   and held.list = $3;

-- removeList
delete from scan as held
 where held.organizer = $1
   and held.event = $2
   and held.list = $3;

-- removeList
update list
   set takes_from = array_remove(list.takes_from, $1::bigint)
 where list.organizer = $2
   and list.event = $3
   and list.takes_from <> '{}'
   and $4::bigint = any(list.takes_from);

-- findSharedIds
select list.id
  from list
  join event
    on event.organizer = list.organizer and event.event = list.event
 where list.organizer = $1
 group by list.id
having count(*) > 1
 limit $2;

-- findSharedIds, of some events
select list.id
  from list
  join event
    on event.organizer = list.organizer and event.event = list.event
 where list.organizer = $1
   and list.event = any($2::text[])
 group by list.id
having count(*) > 1
 limit $3;
