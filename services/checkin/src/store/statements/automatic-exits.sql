-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findInside, after a ticket
with walked as materialized (
  select position.id
    from position
   where (position.organizer, position.event, position.id) > ($1, $2, $3::bigint)
     and (position.organizer, position.event) <= ($4, $5)
     and ($6 or position.item = any($7::bigint[]))
     and ($8::bigint is null or position.subevent = $9)
   order by position.organizer, position.event, position.id
   limit $10
), found as materialized (
  select walked.id, presence.version, presence.entries, presence.last_type, presence.last_at
    from walked
   cross join lateral (
     select presence.version, presence.entries, presence.last_type, presence.last_at
       from presence
      where presence.position = walked.id
        and presence.list = $11
        and presence.event = $12
        and presence.organizer = $13
     offset 0) as presence
   where presence.entries > 0
     and case when presence.last_at < $14::timestamptz
              then presence.last_type = 'entry'
              else (select scan.type
                      from scan
                     where scan.position = walked.id
                       and scan.list = $15
                       and scan.event = $16
                       and scan.organizer = $17
                       and scan.successful
                       and scan.at < $18::timestamptz
                     order by scan.at desc, scan.id desc
                     limit 1) = 'entry'
                   and not exists (
                     select
                       from scan
                      where scan.position = walked.id
                        and scan.list = $19
                        and scan.event = $20
                        and scan.organizer = $21
                        and scan.successful
                        and scan.at = $22::timestamptz
                        and scan.type = 'exit'
                        and scan.auto_checked_in)
         end
)
select (select count(*) from walked) as looked_at, (select max(walked.id) from walked) as up_to,
       found.id as position, found.version, found.entries, found.last_type, found.last_at,
       case when found.id is not null then nextval('scan_id') end as scan_id
  from list
  left join found on true
 where (list.organizer, list.event, list.id) = ($23, $24, $25::bigint)
   and list.exit_all_at = $26::timestamptz
   and list.all_products = $27
   and list.limit_products = $28::bigint[]
   and list.subevent is not distinct from $29::bigint;

-- findInside, some tickets
with walked as materialized (
  select position.id
    from position
   where (position.organizer, position.event) = ($1, $2) and position.id = any($3::bigint[])
     and ($4 or position.item = any($5::bigint[]))
     and ($6::bigint is null or position.subevent = $7)
   order by position.organizer, position.event, position.id
   limit $8
), found as materialized (
  select walked.id, presence.version, presence.entries, presence.last_type, presence.last_at
    from walked
   cross join lateral (
     select presence.version, presence.entries, presence.last_type, presence.last_at
       from presence
      where presence.position = walked.id
        and presence.list = $9
        and presence.event = $10
        and presence.organizer = $11
     offset 0) as presence
   where presence.entries > 0
     and case when presence.last_at < $12::timestamptz
              then presence.last_type = 'entry'
              else (select scan.type
                      from scan
                     where scan.position = walked.id
                       and scan.list = $13
                       and scan.event = $14
                       and scan.organizer = $15
                       and scan.successful
                       and scan.at < $16::timestamptz
                     order by scan.at desc, scan.id desc
                     limit 1) = 'entry'
                   and not exists (
                     select
                       from scan
                      where scan.position = walked.id
                        and scan.list = $17
                        and scan.event = $18
                        and scan.organizer = $19
                        and scan.successful
                        and scan.at = $20::timestamptz
                        and scan.type = 'exit'
                        and scan.auto_checked_in)
         end
)
select (select count(*) from walked) as looked_at, (select max(walked.id) from walked) as up_to,
       found.id as position, found.version, found.entries, found.last_type, found.last_at,
       case when found.id is not null then nextval('scan_id') end as scan_id
  from list
  left join found on true
 where (list.organizer, list.event, list.id) = ($21, $22, $23::bigint)
   and list.exit_all_at = $24::timestamptz
   and list.all_products = $25
   and list.limit_products = $26::bigint[]
   and list.subevent is not distinct from $27::bigint;

-- findNextInside
with walked as materialized (
  select position.id
    from position
   where (position.organizer, position.event, position.id) > ($1, $2, $3::bigint)
     and (position.organizer, position.event) <= ($4, $5)
     and ($6 or position.item = any($7::bigint[]))
     and ($8::bigint is null or position.subevent = $9)
   order by position.organizer, position.event, position.id
   limit $10
)
select (select count(*) from walked) as looked_at, (select max(walked.id) from walked) as up_to,
       min(case when (select scan.type
                        from scan
                       where scan.position = walked.id
                         and scan.list = $11
                         and scan.event = $12
                         and scan.organizer = $13
                         and scan.successful
                         and scan.at <= $14::timestamptz
                       order by scan.at desc, scan.id desc
                       limit 1) = 'entry'
                then $15::timestamptz
                else (select min(scan.at)
                        from scan
                       where scan.position = walked.id
                         and scan.list = $16
                         and scan.event = $17
                         and scan.organizer = $18
                         and scan.successful
                         and scan.type = 'entry'
                         and scan.at > $19::timestamptz)
           end) as inside_at
  from walked
 cross join lateral (
   select presence.version, presence.entries, presence.last_type, presence.last_at
     from presence
    where presence.position = walked.id
      and presence.list = $20
      and presence.event = $21
      and presence.organizer = $22
   offset 0) as presence
 where presence.last_type = 'entry'
    or presence.last_at > $23::timestamptz;
