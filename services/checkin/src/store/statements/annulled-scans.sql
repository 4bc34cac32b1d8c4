-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findScansOfNonce
select scan.organizer, scan.event, scan.list, scan.id, scan.position, scan.type, scan.successful,
       scan.device_id as "deviceId", scan.at
  from unnest($1::text[], $2::text[], $3::bigint[]) as "asked" ("organizer", "event", "list")
  join scan
    on scan.organizer = asked.organizer and scan.event = asked.event and scan.list = asked.list
 where scan.nonce = $4
   and scan.successful
   and ($5::bigint is null or scan.device_id = $6)
 order by scan.id
 limit $7;

-- findScansOfNonce, refused ones
select scan.organizer, scan.event, scan.list, scan.id, scan.position, scan.type, scan.successful,
       scan.device_id as "deviceId", scan.at
  from unnest($1::text[], $2::text[], $3::bigint[]) as "asked" ("organizer", "event", "list")
  join scan
    on scan.organizer = asked.organizer and scan.event = asked.event and scan.list = asked.list
 where scan.nonce = $4
   and not scan.successful
   and ($5::bigint is null or scan.device_id = $6)
 order by scan.id
 limit $7;

-- markAnnulled
update scan
   set successful = false,
       reason = 'annulled',
       explanation = case when exists (select from erasure
                                        where erasure.organizer = scan.organizer
                                          and erasure.event = scan.event
                                          and erasure.is_taken_on
                                          and erasure.kinds && $1::text[]) then null else $2 end,
       annulled_at = clock_timestamp()
 where scan.organizer = $3
   and scan.event = $4
   and scan.id = $5
   and scan.list = $6
   and scan.successful;
