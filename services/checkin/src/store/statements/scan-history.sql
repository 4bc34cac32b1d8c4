-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- pageScans
with found as materialized (
  select scan.organizer, scan.event, scan.id
    from scan
   where scan.organizer = $1
     and scan.event = $2
     and ($3::timestamptz is null or scan.created_at >= $4) and ($5::timestamptz is null or scan.created_at < $6)
     and ($7::timestamptz is null or scan.at >= $8) and ($9::timestamptz is null or scan.at < $10)
     and ($11::boolean is null or scan.successful = $12)
     and ($13::text is null or scan.reason = $14)
     and ($15::bigint is null or scan.list = $16)
     and ($17::text is null or scan.type = $18)
     and ($19::bigint is null or scan.gate = $20)
     and ($21::bigint is null or coalesce(scan.device, scan.device_id) = $22)
     and ($23::boolean is null or scan.auto_checked_in = $24)
   order by scan.created_at, scan.id
   limit $25 offset $26
)
select scan.id, scan.list, scan.position, scan.type, scan.reason, scan.explanation, scan.at, scan.created_at as "createdAt",
       scan.device, scan.device_id as "deviceId", scan.gate, scan.auto_checked_in as "autoCheckedIn"
  from found
  join scan on scan.organizer = found.organizer and scan.event = found.event and scan.id = found.id
 order by scan.created_at, scan.id;

-- pageScans, in an order
with found as materialized (
  select scan.organizer, scan.event, scan.id
    from scan
   where scan.organizer = $1
     and scan.event = $2
     and ($3::timestamptz is null or scan.created_at >= $4) and ($5::timestamptz is null or scan.created_at < $6)
     and ($7::timestamptz is null or scan.at >= $8) and ($9::timestamptz is null or scan.at < $10)
     and ($11::boolean is null or scan.successful = $12)
     and ($13::text is null or scan.reason = $14)
     and ($15::bigint is null or scan.list = $16)
     and ($17::text is null or scan.type = $18)
     and ($19::bigint is null or scan.gate = $20)
     and ($21::bigint is null or coalesce(scan.device, scan.device_id) = $22)
     and ($23::boolean is null or scan.auto_checked_in = $24)
   order by scan.at desc, scan.created_at, scan.id desc
   limit $25 offset $26
)
select scan.id, scan.list, scan.position, scan.type, scan.reason, scan.explanation, scan.at, scan.created_at as "createdAt",
       scan.device, scan.device_id as "deviceId", scan.gate, scan.auto_checked_in as "autoCheckedIn"
  from found
  join scan on scan.organizer = found.organizer and scan.event = found.event and scan.id = found.id
 order by scan.at desc, scan.created_at, scan.id desc;
