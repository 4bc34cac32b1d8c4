-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readCheckins
select presence.position, presence.list, scan.id, scan.type, scan.at, scan.gate, scan.device,
       scan.device_id as "deviceId", scan.auto_checked_in as "autoCheckedIn", scan.created_at as "createdAt"
  from unnest($1::bigint[]) as asked (id)
 cross join lateral (
   select presence.organizer, presence.event, presence.position, presence.list
     from presence
    where presence.position = asked.id
      and presence.organizer = $2
      and presence.event = $3
    order by presence.position, presence.list) as presence
 cross join lateral (
   select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in, scan.created_at
     from scan
    where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
          >= (presence.position, presence.list, presence.event, presence.organizer, true)
      and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
          <= (presence.position, presence.list, presence.event, presence.organizer, true)
    order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
             scan.at desc, scan.id desc
    limit $4) as scan
 order by presence.position, scan.at desc, scan.id desc;
