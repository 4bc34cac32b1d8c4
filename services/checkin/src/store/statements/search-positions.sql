-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- searchPositions
with known as materialized (
  select not exists (select
                       from position as ticket
                      where ticket.organizer = $1 and ticket.event = $2
                      order by ticket.organizer, ticket.event, ticket.id
                      limit 1 offset $3) as "isSmall",
         exists (select
                   from position as ticket where ticket.organizer = $4 and ticket.event = $5 and ticket.addon_to is not null) as "hasAddons"
), named as materialized (
  (select ticket.id
     from position as ticket
    where (select known."isSmall" from known)
      and ticket.search_text || '' like any($6::text[])
      and (select known."hasAddons" from known) and ticket.organizer = $7 and ticket.event = $8
    order by ticket.id
    limit $9)
  union all
  (select ticket.id
     from (select ticket.organizer || '' as organizer, ticket.event || '' as event, ticket.id, ticket.canceled, ticket.subevent,
                  ticket.item, ticket.variation, ticket.addon_to,
                  ticket.counted_as, ticket.order_status, ticket.order_code, ticket.secret, ticket.pseudonymization_id, ticket.voucher,
                  ticket.blocked, ticket.valid_from_at, ticket.valid_until_at
             from position as ticket
            where not (select known."isSmall" from known)
              and ticket.search_text like any($10::text[]) and ticket.search_text || '' like any($11::text[])) as ticket
    where (select known."hasAddons" from known) and ticket.organizer = $12 and ticket.event = $13
    limit $14)
), found as (
  (select ticket.id
     from position as ticket
    where (select known."isSmall" from known)
      and ticket.search_text || '' like any($15::text[]) and ticket.organizer = $16 and ticket.event = $17 and not ticket.canceled
      and ticket.counted_as = any($18::text[])
    order by ticket.id
    limit $19)
  union all
  (select ticket.id
     from (select ticket.organizer || '' as organizer, ticket.event || '' as event, ticket.id, ticket.canceled, ticket.subevent,
                  ticket.item, ticket.variation, ticket.addon_to,
                  ticket.counted_as, ticket.order_status, ticket.order_code, ticket.secret, ticket.pseudonymization_id, ticket.voucher,
                  ticket.blocked, ticket.valid_from_at, ticket.valid_until_at
             from position as ticket
            where not (select known."isSmall" from known)
              and ticket.search_text like any($20::text[]) and ticket.search_text || '' like any($21::text[])) as ticket
    where ticket.organizer = $22 and ticket.event = $23 and not ticket.canceled
      and ticket.counted_as = any($24::text[])
    limit $25)
  union
  (select ticket.id
     from named
     join position as ticket on ticket.organizer = $26 and ticket.event = $27 and ticket.addon_to = named.id
    where ticket.organizer = $28 and ticket.event = $29 and not ticket.canceled
      and ticket.counted_as = any($30::text[])
    limit $31)
  union
  -- The shortest first, so that the code itself is within the limit.
  (select ticket.id
     from position as ticket
    where ticket.organizer = $32 and ticket.event = $33 and not ticket.canceled
      and ticket.counted_as = any($34::text[]) and lower(left(ticket.secret, 250)) >= lower(left($35 collate "C", 250))
      and lower(left(ticket.secret, 250)) < lower(left($36 collate "C", 250)) || $37
    order by lower(left(ticket.secret, 250)), ticket.id
    limit $38)
  union
  (select ticket.id
     from position as ticket
    where ticket.organizer = $39 and ticket.event = $40 and not ticket.canceled
      and ticket.counted_as = any($41::text[])
      and upper(ticket.order_code) >= upper($42 collate "C") and upper(ticket.order_code) < upper($43 collate "C") || $44
    order by upper(ticket.order_code), ticket.id
    limit $45)
  union
  select (linked.position ->> 'id')::bigint
    from reusable_medium
   cross join lateral jsonb_array_elements(reusable_medium.linked_positions) as linked (position)
   where reusable_medium.organizer = $46
     and reusable_medium.identifier = $47
     and linked.position ->> 'event' = $48
)
select array(select found.id from found) as ids;

-- searchPositions, of a long code
with known as materialized (
  select not exists (select
                       from position as ticket
                      where ticket.organizer = $1 and ticket.event = $2
                      order by ticket.organizer, ticket.event, ticket.id
                      limit 1 offset $3) as "isSmall",
         exists (select
                   from position as ticket where ticket.organizer = $4 and ticket.event = $5 and ticket.addon_to is not null) as "hasAddons"
), named as materialized (
  (select ticket.id
     from position as ticket
    where (select known."isSmall" from known)
      and ticket.search_text || '' like any($6::text[])
      and (select known."hasAddons" from known) and ticket.organizer = $7 and ticket.event = $8
    order by ticket.id
    limit $9)
  union all
  (select ticket.id
     from (select ticket.organizer || '' as organizer, ticket.event || '' as event, ticket.id, ticket.canceled, ticket.subevent,
                  ticket.item, ticket.variation, ticket.addon_to,
                  ticket.counted_as, ticket.order_status, ticket.order_code, ticket.secret, ticket.pseudonymization_id, ticket.voucher,
                  ticket.blocked, ticket.valid_from_at, ticket.valid_until_at
             from position as ticket
            where not (select known."isSmall" from known)
              and ticket.search_text like any($10::text[]) and ticket.search_text || '' like any($11::text[])) as ticket
    where (select known."hasAddons" from known) and ticket.organizer = $12 and ticket.event = $13
    limit $14)
), found as (
  (select ticket.id
     from position as ticket
    where (select known."isSmall" from known)
      and ticket.search_text || '' like any($15::text[]) and ticket.organizer = $16 and ticket.event = $17 and not ticket.canceled
      and ticket.subevent = $18
      and ticket.item = any($19::bigint[])
      and ticket.counted_as = any($20::text[])
      and ticket.item = any($21::bigint[])
      and ticket.variation = any($22::bigint[])
      and ticket.subevent = any($23::bigint[])
    order by ticket.id
    limit $24)
  union all
  (select ticket.id
     from (select ticket.organizer || '' as organizer, ticket.event || '' as event, ticket.id, ticket.canceled, ticket.subevent,
                  ticket.item, ticket.variation, ticket.addon_to,
                  ticket.counted_as, ticket.order_status, ticket.order_code, ticket.secret, ticket.pseudonymization_id, ticket.voucher,
                  ticket.blocked, ticket.valid_from_at, ticket.valid_until_at
             from position as ticket
            where not (select known."isSmall" from known)
              and ticket.search_text like any($25::text[]) and ticket.search_text || '' like any($26::text[])) as ticket
    where ticket.organizer = $27 and ticket.event = $28 and not ticket.canceled
      and ticket.subevent = $29
      and ticket.item = any($30::bigint[])
      and ticket.counted_as = any($31::text[])
      and ticket.item = any($32::bigint[])
      and ticket.variation = any($33::bigint[])
      and ticket.subevent = any($34::bigint[])
    limit $35)
  union
  (select ticket.id
     from named
     join position as ticket on ticket.organizer = $36 and ticket.event = $37 and ticket.addon_to = named.id
    where ticket.organizer = $38 and ticket.event = $39 and not ticket.canceled
      and ticket.subevent = $40
      and ticket.item = any($41::bigint[])
      and ticket.counted_as = any($42::text[])
      and ticket.item = any($43::bigint[])
      and ticket.variation = any($44::bigint[])
      and ticket.subevent = any($45::bigint[])
    limit $46)
  union
  -- The shortest first, so that the code itself is within the limit.
  (select ticket.id
     from position as ticket
    where ticket.organizer = $47 and ticket.event = $48 and not ticket.canceled
      and ticket.subevent = $49
      and ticket.item = any($50::bigint[])
      and ticket.counted_as = any($51::text[])
      and ticket.item = any($52::bigint[])
      and ticket.variation = any($53::bigint[])
      and ticket.subevent = any($54::bigint[]) and lower(left(ticket.secret, 250)) >= lower(left($55 collate "C", 250))
      and lower(left(ticket.secret, 250)) < lower(left($56 collate "C", 250)) || $57
      and starts_with(lower(ticket.secret), lower($58 collate "C"))
    order by lower(left(ticket.secret, 250)), ticket.id
    limit $59)
  union
  (select ticket.id
     from position as ticket
    where ticket.organizer = $60 and ticket.event = $61 and not ticket.canceled
      and ticket.subevent = $62
      and ticket.item = any($63::bigint[])
      and ticket.counted_as = any($64::text[])
      and ticket.item = any($65::bigint[])
      and ticket.variation = any($66::bigint[])
      and ticket.subevent = any($67::bigint[])
      and upper(ticket.order_code) >= upper($68 collate "C") and upper(ticket.order_code) < upper($69 collate "C") || $70
    order by upper(ticket.order_code), ticket.id
    limit $71)
  union
  select (linked.position ->> 'id')::bigint
    from reusable_medium
   cross join lateral jsonb_array_elements(reusable_medium.linked_positions) as linked (position)
   where reusable_medium.organizer = $72
     and reusable_medium.identifier = $73
     and linked.position ->> 'event' = $74
)
select array(select found.id from found) as ids;
