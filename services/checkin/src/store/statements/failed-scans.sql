-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- lockPositionWithSecret
select position.id
  from position
 where position.organizer = $1
   and position.event = $2
   and lower(left(position.secret, 250)) = lower(left($3::text collate "C", 250))
   and position.secret = $4
 order by position.canceled, position.id
 limit 1
   for key share;

-- findFailedScan, of a ticket
select scan.reason, scan.explanation, coalesce(scan.raw_code, $1) as "rawCode",
       scan.source_type as "sourceType", scan.raw_item as "rawItem", scan.raw_variation as "rawVariation",
       scan.raw_subevent as "rawSubevent", scan.nonce, scan.at, scan.type, scan.position
  from scan
 where scan.organizer = $2
   and scan.event = $3
   and scan.nonce = $4
   and not scan.successful
   and scan.position = $5
 order by scan.id
 limit 1;

-- findFailedScan, of a code
select scan.reason, scan.explanation, coalesce(scan.raw_code, $1) as "rawCode",
       scan.source_type as "sourceType", scan.raw_item as "rawItem", scan.raw_variation as "rawVariation",
       scan.raw_subevent as "rawSubevent", scan.nonce, scan.at, scan.type, scan.position
  from scan
 where scan.organizer = $2
   and scan.event = $3
   and scan.nonce = $4
   and not scan.successful
   and scan.list = $5 and coalesce(scan.raw_code, $6) = $7
 order by scan.id
 limit 1;
