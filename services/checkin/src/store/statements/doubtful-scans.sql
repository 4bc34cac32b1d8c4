-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- nextDoubtful
select distinct scan.position, scan.list
  from scan
 where scan.organizer = $1
   and scan.event = $2
   and ((scan.successful and scan.type = 'entry' and (scan.overruled is not null or scan.out_of_order))
        or (scan.annulled_at is not null and scan.type = 'exit'))
   and (scan.position, scan.list) > ($3, $4::bigint)
 order by scan.position, scan.list
 limit $5;

-- nextDoubtful, of a ticket on a list
select distinct scan.position, scan.list
  from scan
 where scan.organizer = $1
   and scan.event = $2
   and ((scan.successful and scan.type = 'entry' and (scan.overruled is not null or scan.out_of_order))
        or (scan.annulled_at is not null and scan.type = 'exit'))
   and (scan.position, scan.list) > ($3, $4::bigint)
   and scan.position = $5
   and scan.list = $6
 order by scan.position, scan.list
 limit $7;

-- readScansOnLists
select asked.ord, list.allow_multiple_entries as "allowMultipleEntries",
       list.allow_entry_after_exit as "allowEntryAfterExit", scan.id, scan.type, scan.at,
       scan.created_at as "createdAt", scan.device, scan.device_id as "deviceId", scan.gate, scan.overruled,
       scan.out_of_order as "isOutOfOrder", not scan.successful as "isAnnulled",
       scan.auto_checked_in as "autoCheckedIn"
  from unnest($1::bigint[], $2::bigint[]) with ordinality as "asked" ("position", "list", "ord")
  join list on list.organizer = $3 and list.event = $4 and list.id = asked.list
 cross join lateral (
   select scan.id, scan.type, scan.at, scan.created_at, scan.device, scan.device_id, scan.gate, scan.overruled,
          scan.out_of_order, scan.successful, scan.auto_checked_in
     from scan
    where scan.position = asked.position
      and scan.list = asked.list
      and scan.event = $5
      and scan.organizer = $6
      and (scan.successful or (scan.annulled_at is not null and scan.type = 'exit'))
    order by scan.at, scan.id
 ) as scan
 order by asked.ord, scan.at, scan.id;
