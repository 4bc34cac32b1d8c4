-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- storeScans
with held_list as (
  select wanted.ord as place, list.organizer, list.event, list.id as list,
         exists (select from erasure
                  where erasure.organizer = list.organizer
                    and erasure.event = list.event
                    and erasure.is_taken_on
                    and erasure.kinds && $1::text[]) as is_erased
    from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as "wanted" ("organizer", "event", "list", "ord")
    join list on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.list
   where $5::bigint <= (select scan_id.last_value from scan_id)
     for key share of list skip locked
), decided as materialized (
  select held_list.place, held_list.organizer, held_list.event, held_list.list, sent.position, sent.version, sent.entries,
         sent.last_type,
         coalesce(sent.last_at, sent.at) as last_at, sent.entered, sent.inside, sent.id, sent.type, sent.reason,
         case when not held_list.is_erased then sent.explanation end as explanation,
         case when not held_list.is_erased then sent.raw_code end as raw_code,
         coalesce(sent.source_type, 'barcode') as source_type, sent.raw_item, sent.raw_variation, sent.raw_subevent, sent.at,
         sent.nonce, sent.device_id, sent.gate, coalesce(sent.forced, false) as forced,
         coalesce(sent.force_sent, false) as force_sent, sent.overruled,
         coalesce(sent.is_out_of_order, false) as is_out_of_order,
         coalesce(sent.is_automatic, false) as is_automatic, sent.ord
    from unnest($6::bigint[],
                $7::bigint[],
                $8::bigint[],
                $9::bigint[],
                $10::text[],
                $11::timestamptz[],
                $12::bigint[],
                $13::bigint[],
                $14::bigint[],
                $15::text[],
                $16::text[],
                $17::text[],
                $18::text[],
                $19::text[],
                $20::bigint[],
                $21::bigint[],
                $22::bigint[],
                $23::timestamptz[],
                $24::text[],
                $25::bigint[],
                $26::bigint[],
                $27::boolean[],
                $28::boolean[],
                $29::text[],
                $30::boolean[],
                $31::boolean[])
         with ordinality
         as sent (place, position, version, entries, last_type, last_at, entered, inside, id, type, reason, explanation,
                  raw_code, source_type, raw_item, raw_variation, raw_subevent, at, nonce, device_id, gate, forced,
                  force_sent, overruled, is_out_of_order, is_automatic, ord)
    join held_list on held_list.place = sent.place
), held_ticket as (
  select decided.ord, decided.place, decided.organizer, decided.event, decided.position, decided.list, decided.version,
         decided.entries, decided.last_type, decided.last_at, decided.entered, decided.inside, decided.overruled,
         coalesce(position.subevent, 0) as subevent, position.item, coalesce(position.variation, 0) as variation,
         position.counted_as
    from decided
    join position
      on position.organizer = decided.organizer and position.event = decided.event and position.id = decided.position
   where decided.version is not null
     and true
     for share of position skip locked
), admitted as (
  insert into presence as held (organizer, event, position, list, version, entries, last_type, last_at)
  select held_ticket.organizer, held_ticket.event, held_ticket.position, held_ticket.list, held_ticket.version,
         held_ticket.entries, held_ticket.last_type, held_ticket.last_at
    from held_ticket
   where case when held_ticket.version > 1
              then held_ticket.version - 1
                   = (select seen.version
                        from presence as seen
                       where seen.organizer = held_ticket.organizer and seen.event = held_ticket.event
                         and seen.position = held_ticket.position and seen.list = held_ticket.list)
              else true
          end
   order by held_ticket.position, held_ticket.list, held_ticket.event, held_ticket.organizer
      on conflict (position, list, event, organizer) do update
     set version = excluded.version, entries = excluded.entries,
         last_type = excluded.last_type, last_at = excluded.last_at
   where held.version = excluded.version - 1
  returning held.organizer, held.event, held.position, held.list
), kept as materialized (
  select decided.ord
    from decided
   where case when decided.version is null
              then decided.position is null or coalesce(
                (select true
                   from position
                  where (position.organizer, position.event, position.id) >= (decided.organizer, decided.event, decided.position)
                    and (position.organizer, position.event, position.id) <= (decided.organizer, decided.event, decided.position)
                  order by position.organizer, position.event, position.id
                  limit 1), false)
              else (decided.position, decided.list, decided.event, decided.organizer)
                   in (select admitted.position, admitted.list, admitted.event, admitted.organizer from admitted)
          end
), stored as (
  insert into scan (organizer, event, id, list, position, type, successful, reason, explanation, raw_code, source_type,
                    raw_item, raw_variation, raw_subevent, at, nonce, device_id, gate, forced, force_sent,
                    overruled, out_of_order, auto_checked_in)
  select decided.organizer, decided.event, decided.id, decided.list, decided.position, decided.type,
         decided.version is not null, decided.reason, decided.explanation, decided.raw_code, decided.source_type,
         decided.raw_item, decided.raw_variation, decided.raw_subevent, decided.at, decided.nonce, decided.device_id,
         decided.gate, decided.forced, decided.force_sent, decided.overruled, decided.is_out_of_order,
         decided.is_automatic
    from decided
   where decided.ord = any(array(select kept.ord from kept))
), counted as (
  insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
  select held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
         held_ticket.variation, held_ticket.counted_as, 0, sum(held_ticket.entered), sum(held_ticket.inside)
    from held_ticket
   where held_ticket.counted_as is not null
     and held_ticket.ord = any(array(select kept.ord from kept))
   group by held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
            held_ticket.variation, held_ticket.counted_as
  having sum(held_ticket.entered) <> 0 or sum(held_ticket.inside) <> 0
), published as (
  insert into outbox (fact_id, topic, key, payload, traceparent, created_at, headers)
  select coalesce(fact.id, gen_random_uuid()), $32, fact.key, fact.payload, fact.traceparent,
         case when fact.payload is null then clock_timestamp() else now() end, fact.headers
    from unnest($33::uuid[],
                $34::text[],
                $35::bytea[],
                $36::text[],
                $37::jsonb[])
         with ordinality as fact (id, key, payload, traceparent, headers, ord)
   where fact.ord = any(array(select kept.ord from kept))
   order by fact.ord
)
select kept.ord
  from kept;

-- storeScans, automatic exits
with held_list as (
  select 1::bigint as place, list.organizer, list.event, list.id as list, exists (select from erasure
                                                                                   where erasure.organizer = list.organizer
                                                                                     and erasure.event = list.event
                                                                                     and erasure.is_taken_on
                                                                                     and erasure.kinds && $1::text[]) as is_erased
    from list
   where (list.organizer, list.event, list.id) = ($2, $3, $4::bigint)
     and list.exit_all_at = $5::timestamptz
     and list.all_products = $6
     and list.limit_products = $7::bigint[]
     and list.subevent is not distinct from $8::bigint
     for share of list skip locked
), decided as materialized (
  select held_list.place, held_list.organizer, held_list.event, held_list.list, sent.position, sent.version, sent.entries,
         sent.last_type,
         coalesce(sent.last_at, sent.at) as last_at, sent.entered, sent.inside, sent.id, sent.type, sent.reason,
         case when not held_list.is_erased then sent.explanation end as explanation,
         case when not held_list.is_erased then sent.raw_code end as raw_code,
         coalesce(sent.source_type, 'barcode') as source_type, sent.raw_item, sent.raw_variation, sent.raw_subevent, sent.at,
         sent.nonce, sent.device_id, sent.gate, coalesce(sent.forced, false) as forced,
         coalesce(sent.force_sent, false) as force_sent, sent.overruled,
         coalesce(sent.is_out_of_order, false) as is_out_of_order,
         coalesce(sent.is_automatic, false) as is_automatic, sent.ord
    from unnest($9::bigint[],
                $10::bigint[],
                $11::bigint[],
                $12::bigint[],
                $13::text[],
                $14::timestamptz[],
                $15::bigint[],
                $16::bigint[],
                $17::bigint[],
                $18::text[],
                $19::text[],
                $20::text[],
                $21::text[],
                $22::text[],
                $23::bigint[],
                $24::bigint[],
                $25::bigint[],
                $26::timestamptz[],
                $27::text[],
                $28::bigint[],
                $29::bigint[],
                $30::boolean[],
                $31::boolean[],
                $32::text[],
                $33::boolean[],
                $34::boolean[])
         with ordinality
         as sent (place, position, version, entries, last_type, last_at, entered, inside, id, type, reason, explanation,
                  raw_code, source_type, raw_item, raw_variation, raw_subevent, at, nonce, device_id, gate, forced,
                  force_sent, overruled, is_out_of_order, is_automatic, ord)
    join held_list on held_list.place = sent.place
), held_ticket as (
  select decided.ord, decided.place, decided.organizer, decided.event, decided.position, decided.list, decided.version,
         decided.entries, decided.last_type, decided.last_at, decided.entered, decided.inside, decided.overruled,
         coalesce(position.subevent, 0) as subevent, position.item, coalesce(position.variation, 0) as variation,
         position.counted_as
    from decided
    join position
      on position.organizer = decided.organizer and position.event = decided.event and position.id = decided.position
   where decided.version is not null
     and ($35 or position.item = any($36::bigint[]))
     and ($37::bigint is null or position.subevent = $38)
     for share of position skip locked
), admitted as (
  insert into presence as held (organizer, event, position, list, version, entries, last_type, last_at)
  select held_ticket.organizer, held_ticket.event, held_ticket.position, held_ticket.list, held_ticket.version,
         held_ticket.entries, held_ticket.last_type, held_ticket.last_at
    from held_ticket
   where case when held_ticket.version > 1
              then held_ticket.version - 1
                   = (select seen.version
                        from presence as seen
                       where seen.organizer = held_ticket.organizer and seen.event = held_ticket.event
                         and seen.position = held_ticket.position and seen.list = held_ticket.list)
              else true
          end
   order by held_ticket.position, held_ticket.list, held_ticket.event, held_ticket.organizer
      on conflict (position, list, event, organizer) do update
     set version = excluded.version, entries = excluded.entries,
         last_type = excluded.last_type, last_at = excluded.last_at
   where held.version = excluded.version - 1
  returning held.organizer, held.event, held.position, held.list
), kept as materialized (
  select decided.ord
    from decided
   where case when decided.version is null
              then decided.position is null or coalesce(
                (select true
                   from position
                  where (position.organizer, position.event, position.id) >= (decided.organizer, decided.event, decided.position)
                    and (position.organizer, position.event, position.id) <= (decided.organizer, decided.event, decided.position)
                  order by position.organizer, position.event, position.id
                  limit 1), false)
              else (decided.position, decided.list, decided.event, decided.organizer)
                   in (select admitted.position, admitted.list, admitted.event, admitted.organizer from admitted)
          end
), stored as (
  insert into scan (organizer, event, id, list, position, type, successful, reason, explanation, raw_code, source_type,
                    raw_item, raw_variation, raw_subevent, at, nonce, device_id, gate, forced, force_sent,
                    overruled, out_of_order, auto_checked_in)
  select decided.organizer, decided.event, decided.id, decided.list, decided.position, decided.type,
         decided.version is not null, decided.reason, decided.explanation, decided.raw_code, decided.source_type,
         decided.raw_item, decided.raw_variation, decided.raw_subevent, decided.at, decided.nonce, decided.device_id,
         decided.gate, decided.forced, decided.force_sent, decided.overruled, decided.is_out_of_order,
         decided.is_automatic
    from decided
   where decided.ord = any(array(select kept.ord from kept))
), counted as (
  insert into count_delta (organizer, event, list, subevent, item, variation, counted_as, positions, entered, inside)
  select held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
         held_ticket.variation, held_ticket.counted_as, 0, sum(held_ticket.entered), sum(held_ticket.inside)
    from held_ticket
   where held_ticket.counted_as is not null
     and held_ticket.ord = any(array(select kept.ord from kept))
   group by held_ticket.organizer, held_ticket.event, held_ticket.list, held_ticket.subevent, held_ticket.item,
            held_ticket.variation, held_ticket.counted_as
  having sum(held_ticket.entered) <> 0 or sum(held_ticket.inside) <> 0
), published as (
  insert into outbox (fact_id, topic, key, payload, traceparent, created_at, headers)
  select coalesce(fact.id, gen_random_uuid()), $39, fact.key, fact.payload, fact.traceparent,
         case when fact.payload is null then clock_timestamp() else now() end, fact.headers
    from unnest($40::uuid[],
                $41::text[],
                $42::bytea[],
                $43::text[],
                $44::jsonb[])
         with ordinality as fact (id, key, payload, traceparent, headers, ord)
   where fact.ord = any(array(select kept.ord from kept))
   order by fact.ord
)
select kept.ord
  from kept;
