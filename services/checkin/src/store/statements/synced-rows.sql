-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findEventBehind
select min(found.event) as event from (
  (select held.event
     from event as held
    where (held.organizer, held.event) > ($1, $2)
      and held.organizer <= $3
    order by held.organizer, held.event
    limit 1) union all
  (select held.event
     from subevent as held
    where (held.organizer, held.event, held.id) > ($4, $5, 9223372036854775807)
      and held.organizer <= $6
    order by held.organizer, held.event, held.id
    limit 1) union all
  (select held.event
     from item as held
    where (held.organizer, held.event, held.id) > ($7, $8, 9223372036854775807)
      and held.organizer <= $9
    order by held.organizer, held.event, held.id
    limit 1) union all
  (select held.event
     from question as held
    where (held.organizer, held.event, held.id) > ($10, $11, 9223372036854775807)
      and held.organizer <= $12
    order by held.organizer, held.event, held.id
    limit 1) union all
  (select held.event
     from list as held
    where (held.organizer, held.event, held.id) > ($13, $14, 9223372036854775807)
      and held.organizer <= $15
    order by held.organizer, held.event, held.id
    limit 1) union all
  (select held.event
     from revoked_secret as held
    where (held.organizer, held.event, held.id) > ($16, $17, 9223372036854775807)
      and held.organizer <= $18
    order by held.organizer, held.event, held.id
    limit 1) union all
  (select held.event
     from blocked_secret as held
    where (held.organizer, held.event, held.id) > ($19, $20, 9223372036854775807)
      and held.organizer <= $21
    order by held.organizer, held.event, held.id
    limit 1) union all
  (select held.event
     from position as held
    where (held.organizer, held.event, held.id) > ($22, $23, 9223372036854775807)
      and held.organizer <= $24
    order by held.organizer, held.event, held.id
    limit 1)) as found;

-- readSyncedPresences
select presence.event, presence.position, presence.list, presence.entries, presence.last_type,
       (extract(epoch from presence.last_at) * 1000000)::bigint as last_at,
       case when presence.version = 1 then (
         select json_build_array(json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type, scan.gate, scan.device_id))
           from (
             select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
               from scan
              where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                    >= (presence.position, presence.list, presence.event, presence.organizer, true)
                and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                    <= (presence.position, presence.list, presence.event, presence.organizer, true)
              order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                       scan.at desc, scan.id desc
              limit 1) as scan)
            else (
              select json_agg(json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type, scan.gate,
                                               scan.device_id) order by scan.at desc, scan.id desc)
                from (
                  select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
                    from scan
                   where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                         >= (presence.position, presence.list, presence.event, presence.organizer, true)
                     and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                         <= (presence.position, presence.list, presence.event, presence.organizer, true)
                   order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                            scan.at desc, scan.id desc
                   limit $1) as scan)
            end as scans, presence.place, presence.total
  from (select found.organizer, found.event, found.position, found.list, found.version, found.entries, found.last_type,
               found.last_at, wanted.place, 1 + least(found.version, $2) as own,
               (sum(1 + least(found.version, $3)) over (order by wanted.place))::bigint as total
          from unnest($4::bigint[], $5::text[], $6::bigint[], $7::bigint[]) as "wanted" ("place", "event", "position", "list")
         cross join lateral (
           select found.organizer, found.event, found.position, found.list, found.version, found.entries,
                  found.last_type, found.last_at
             from presence as found
            where (found.position, found.list, found.event, found.organizer) >= (wanted.position, wanted.list, wanted.event, $8)
              and (found.position, found.list, found.event, found.organizer) <= (wanted.position, wanted.list, wanted.event, $9)
            order by found.position, found.list, found.event, found.organizer
            limit 1) as found) as presence
 where presence.total - presence.own < $10
 order by presence.place;

-- readPresencesOfFirst
select presence.event, presence.position, presence.list, presence.entries, presence.last_type,
       (extract(epoch from presence.last_at) * 1000000)::bigint as last_at,
       case when presence.version = 1 then (
         select json_build_array(json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type, scan.gate, scan.device_id))
           from (
             select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
               from scan
              where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                    >= (presence.position, presence.list, presence.event, presence.organizer, true)
                and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                    <= (presence.position, presence.list, presence.event, presence.organizer, true)
              order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                       scan.at desc, scan.id desc
              limit 1) as scan)
            else (
              select json_agg(json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type, scan.gate,
                                               scan.device_id) order by scan.at desc, scan.id desc)
                from (
                  select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
                    from scan
                   where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                         >= (presence.position, presence.list, presence.event, presence.organizer, true)
                     and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                         <= (presence.position, presence.list, presence.event, presence.organizer, true)
                   order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                            scan.at desc, scan.id desc
                   limit $1) as scan)
            end as scans, presence.place, presence.total
  from (select found.organizer, found.event, found.position, found.list, found.version, found.entries, found.last_type,
               found.last_at, wanted.place, sum(1 + least(found.version, $2)) over (partition by wanted.place) as own,
               (sum(1 + least(found.version, $3)) over (order by wanted.place))::bigint as total
          from unnest($4::bigint[], $5::text[], $6::bigint[]) as "wanted" ("place", "event", "id")
         cross join lateral (
           select found.organizer, found.event, found.position, found.list, found.version, found.entries,
                  found.last_type, found.last_at
             from presence as found
            where (found.position, found.list) >= (wanted.id, 0) and (found.position, found.list) <= (wanted.id, 9223372036854775807)
              and found.event = wanted.event and found.organizer = $7
            order by found.position, found.list) as found) as presence
 where presence.total - presence.own < $8
 order by presence.place, presence.list;
