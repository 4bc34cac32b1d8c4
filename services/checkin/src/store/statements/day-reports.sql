-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- tallyScans
with ticket as materialized (
  select position.id, position.item, position.variation, position.subevent, position.counted_as
    from position
   where position.organizer = $1
     and position.event = $2
), tally as (
  select date_bin('15 minutes', scan.at, $3::timestamptz) as quarter, scan.gate, scan.device, scan.device_id,
         scan.list, scan.reason, count(*) filter (where scan.successful and scan.type = 'entry') as entries,
         count(*) filter (where scan.successful and scan.type = 'exit') as exits,
         count(*) filter (where not scan.successful) as refusals
    from scan where scan.organizer = $4
     and scan.event = $5
     and scan.at >= $6::timestamptz
     and scan.at < $7::timestamptz
     and (scan.successful or scan.annulled_at is null)
   group by 1, 2, 3, 4, 5, 6
), placed as (
  select tally.quarter, tally.gate, coalesce(tally.device, tally.device_id) as device, tally.list, tally.reason, tally.entries,
         tally.exits, tally.refusals
    from tally
)
select case grouping(tally.quarter, tally.gate, tally.device, tally.list, tally.reason)
       when 15 then 'quarter' when 23 then 'gate' when 27 then 'device' when 29 then 'list' else 'reason' end as by,
       tally.quarter, tally.gate, tally.device, tally.list, tally.reason, sum(tally.entries)::bigint as entries,
       sum(tally.exits)::bigint as exits, sum(tally.refusals)::bigint as refusals
  from placed as tally
 group by grouping sets ((tally.quarter), (tally.gate), (tally.device), (tally.list), (tally.reason));

-- tallyScans, on a list, of a date
with ticket as materialized (
  select position.id, position.item, position.variation, position.subevent, position.counted_as
    from position
   where position.organizer = $1
     and position.event = $2
     and position.subevent = $3
), tally as (
  select date_bin('15 minutes', scan.at, $4::timestamptz) as quarter, scan.gate, scan.device, scan.device_id,
         scan.list, scan.reason, count(*) filter (where scan.successful and scan.type = 'entry') as entries,
         count(*) filter (where scan.successful and scan.type = 'exit') as exits,
         count(*) filter (where not scan.successful) as refusals
    from scan join ticket on ticket.id = scan.position
   where scan.organizer = $5
     and scan.event = $6
     and scan.at >= $7::timestamptz
     and scan.at < $8::timestamptz
     and (scan.successful or scan.annulled_at is null)
     and scan.list = $9
   group by 1, 2, 3, 4, 5, 6
), placed as (
  select tally.quarter, tally.gate, coalesce(tally.device, tally.device_id) as device, tally.list, tally.reason, tally.entries,
         tally.exits, tally.refusals
    from tally
)
select case grouping(tally.quarter, tally.gate, tally.device, tally.list, tally.reason)
       when 15 then 'quarter' when 23 then 'gate' when 27 then 'device' when 29 then 'list' else 'reason' end as by,
       tally.quarter, tally.gate, tally.device, tally.list, tally.reason, sum(tally.entries)::bigint as entries,
       sum(tally.exits)::bigint as exits, sum(tally.refusals)::bigint as refusals
  from placed as tally
 group by grouping sets ((tally.quarter), (tally.gate), (tally.device), (tally.list), (tally.reason));

-- tallyProducts
with ticket as materialized (
  select position.id, position.item, position.variation, position.subevent, position.counted_as
    from position
   where position.organizer = $1
     and position.event = $2
), scanned as (
  select scan.position, count(*) filter (where scan.successful and scan.type = 'entry') as entries,
         count(*) filter (where scan.successful and scan.type = 'exit') as exits,
         count(*) filter (where not scan.successful) as refusals, min(scan.at) as first_at, max(scan.at) as last_at
    from scan
   where scan.organizer = $3
     and scan.event = $4
     and scan.at >= $5::timestamptz
     and scan.at < $6::timestamptz
     and (scan.successful or scan.annulled_at is null)
   group by scan.position
)
select ticket.item, ticket.variation, sum(tally.entries)::bigint as entries, sum(tally.exits)::bigint as exits,
       sum(tally.refusals)::bigint as refusals, count(*) filter (where tally.entries > 0) as entered,
       min(tally.first_at) as "firstAt", max(tally.last_at) as "lastAt"
  from scanned as tally
  left join ticket on ticket.id = tally.position
 group by ticket.item, ticket.variation;

-- followTickets
with ticket as materialized (
  select position.id, position.item, position.variation, position.subevent, position.counted_as
    from position
   where position.organizer = $1
     and position.event = $2
), earlier as (
  select held.list, held.position, before.at, before.id, before.type
    from presence as held
   cross join lateral (
     -- A range, so that no other index is chosen (see withKey).
     select scan.at, scan.id, scan.type
       from scan
      where (scan."position", scan."list", scan."event", scan."organizer", scan."successful", scan."at", scan."id")
      >= (held.position, held.list, held.event, held.organizer, true, timestamptz '-infinity', 0)
        and (scan."position", scan."list", scan."event", scan."organizer", scan."successful", scan."at", scan."id")
        < (held.position, held.list, held.event, held.organizer, true, $3::timestamptz, 0)
      order by scan."position" desc, scan."list" desc, scan."event" desc, scan."organizer" desc, scan."successful" desc, scan."at" desc,
      scan."id" desc
      limit 1) as before
   where held.organizer = $4
     and held.event = $5
     and held.last_at >= $6::timestamptz
     and case when held.position % $7 = $8 then true else false end
     and before.type = 'entry'
        -- On the first day of an event there is nothing to look for.
     and exists (select
                   from scan
                  where scan.organizer = $9 and scan.event = $10 and scan.at < $11::timestamptz)
   union all
  select held.list, held.position, held.last_at, 0, held.last_type
    from presence as held
   where held.organizer = $12
     and held.event = $13
     and held.last_at < $14::timestamptz
     and case when held.position % $15 = $16 then true else false end
     and held.last_type = 'entry'
), seen as (
  select earlier.list, earlier.position, earlier.at, earlier.id, earlier.type
    from earlier
   union all
  select scan.list, scan.position, scan.at, scan.id, scan.type
    from scan
   where scan.organizer = $17
     and scan.event = $18
     and scan.at >= $19::timestamptz
     and scan.at < $20::timestamptz
     and scan.successful
     and case when scan.position % $21 = $22 then true else false end
), changed as (
  select seen.at, seen.type,
         lag(seen.type) over (partition by seen.list, seen.position order by seen.at, seen.id) as former
    from seen
    join list on list.organizer = $23 and list.event = $24 and list.id = seen.list
    join ticket
      on ticket.id = seen.position
         and ticket.counted_as is not null
         and (list.include_pending or ticket.counted_as <> 'pending')
         and (list.subevent is null or ticket.subevent = list.subevent)
         and (list.all_products or ticket.item = any(list.limit_products))
), step as (
  select greatest(date_bin('1 second', changed.at, $25::timestamptz), $26::timestamptz - interval '1 second') as at,
         sum(case changed.type when 'entry' then 1 else -1 end) as change
    from changed
   where (changed.type = 'entry') <> coalesce(changed.former = 'entry', false)
   group by 1
)
select coalesce(string_agg(step.second::text, ','), '') as seconds, coalesce(string_agg(step.change::text, ','), '') as changes
  from (select extract(epoch from step.at - $27::timestamptz)::integer as second, step.change
          from step
         order by step.at) as step;
