-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readSummedScans
select coalesce(string_agg(presence.position::text, ','), '') as ids, coalesce(string_agg(presence.version::text, ','), '') as counts,
       coalesce(string_agg(coalesce((extract(epoch from presence.last_at) * 1000000)::bigint, 0)::text, ','), '') as times,
       coalesce(string_agg(coalesce((presence.last_type = 'entry')::integer, 0)::text, ','), '') as entries
  from unnest($1::bigint[]) as judged (id)
 cross join lateral (
   select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
          presence.last_type, presence.last_at
     from presence
    where (presence.position, presence.list, presence.event, presence.organizer) >= (judged.id, $2, $3, $4)
      and (presence.position, presence.list, presence.event, presence.organizer) <= (judged.id, $5, $6, $7)
    order by presence.position, presence.list, presence.event, presence.organizer
    limit 1) as presence;

-- readRuledScans
select presence.position as id, ruled.at, ruled.types
  from unnest($1::bigint[]) as judged (id)
 cross join lateral (
   select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
          presence.last_type, presence.last_at
     from presence
    where (presence.position, presence.list, presence.event, presence.organizer) >= (judged.id, $2, $3, $4)
      and (presence.position, presence.list, presence.event, presence.organizer) <= (judged.id, $5, $6, $7)
    order by presence.position, presence.list, presence.event, presence.organizer
    limit 1) as presence
 cross join lateral (
   select array_agg(scan.at order by scan.at desc, scan.id desc) as at,
          array_agg(scan.type order by scan.at desc, scan.id desc) as types
     from (
       select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
         from scan
        where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
              >= (presence.position, $8, presence.event, presence.organizer, true)
          and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
              <= (presence.position, $9, presence.event, presence.organizer, true)
        order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                 scan.at desc, scan.id desc
        limit $10) as scan
 ) as ruled
 where ruled.at is not null;
