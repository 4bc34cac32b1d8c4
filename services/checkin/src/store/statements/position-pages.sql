-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- pageIds, few tickets
with found as materialized (
  select ticket.id as id, ticket.sort_name as "by0", ticket.positionid as "by1", ticket.id as "by2"
    from position as ticket
   where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
     and ticket.counted_as = any($3::text[])
)
select found.id
  from found
 order by found."by0", found."by1", found."by2"
 limit $4 offset $5;

-- pageIds
select set_config('enable_sort', $1, true);

-- pageIds
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.sort_name is not null
 order by ticket.sort_name, ticket.positionid, ticket.id limit $4 offset $5;

-- pageIds
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.sort_name is null
 order by ticket.sort_name, ticket.positionid, ticket.id limit $4 offset $5;

-- pageIds, from the end
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.sort_name is null
 order by ticket.sort_name desc, ticket.positionid desc, ticket.id desc limit $4 offset $5;

-- pageIds, from the end
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.sort_name is not null
 order by ticket.sort_name desc, ticket.positionid desc, ticket.id desc limit $4 offset $5;

-- pageIds, by name
select page.id
  from ((
    select ticket.id as id, ticket.id as "by0"
      from position as ticket
     where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
       and ticket.counted_as = any($3::text[]) and ticket.sort_name is null and ticket.addon_to is null
     order by ticket.id desc limit $4)
        union all
        (
          select ticket.id as id, ticket.id as "by0"
            from position as ticket
           where ticket.organizer = $5 and ticket.event = $6 and not ticket.canceled
             and ticket.counted_as = any($7::text[])
             and ticket.sort_name is null and ticket.addon_to is not null and (select parent.sort_name from (
               select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
                      position.item, position.variation, position.subevent, position.addon_to, position.secret,
                      position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
                      position.counted_as, position.attendee_name, position.sort_name, position.order_email,
                      position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
                 from position
                where (position.organizer, position.event, position.id) >= ($8, $9, ticket.addon_to)
                  and (position.organizer, position.event, position.id) <= ($10, $11, ticket.addon_to)
                order by position.organizer, position.event, position.id
                limit 1) as parent) is null
           order by ticket.id desc limit $12)) as page
 order by page."by0" desc
 limit $13 offset $14;

-- pageIds, by name
select (select count(*) from position as ticket where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
           and ticket.counted_as = any($3::text[])
           and ticket.sort_name is null
           and ticket.addon_to is null) + (select count(*)
                                             from position as ticket
                                            where ticket.organizer = $4 and ticket.event = $5 and not ticket.canceled
                                              and ticket.counted_as = any($6::text[])
                                              and ticket.sort_name is null
                                              and ticket.addon_to is not null and (select parent.sort_name from (
                                                select position.organizer, position.event, position.id, position.revision,
                                                       position.positionid, position.order_code,
                                                       position.item, position.variation, position.subevent, position.addon_to,
                                                       position.secret,
                                                       position.order_status, position.canceled, position.blocked, position.valid_from_at,
                                                       position.valid_until_at,
                                                       position.counted_as, position.attendee_name, position.sort_name,
                                                       position.order_email,
                                                       position.order_placed_at, position.voucher, position.pseudonymization_id,
                                                       position.state
                                                  from position
                                                 where (position.organizer, position.event, position.id) >= ($7, $8, ticket.addon_to)
                                                   and (position.organizer, position.event, position.id) <= ($9, $10, ticket.addon_to)
                                                 order by position.organizer, position.event, position.id
                                                 limit 1) as parent) is null) as count;

-- pageIds, by name
select page.id
  from ((
    select ticket.id as id, ticket.sort_name as "by0", ticket.id as "by1"
      from position as ticket
     where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
       and ticket.counted_as = any($3::text[]) and ticket.sort_name is not null
     order by ticket.sort_name, ticket.id desc limit $4)
        union all
        (
          select ticket.id as id, (select parent.sort_name from (
            select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
                   position.item, position.variation, position.subevent, position.addon_to, position.secret,
                   position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
                   position.counted_as, position.attendee_name, position.sort_name, position.order_email,
                   position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
              from position
             where (position.organizer, position.event, position.id) >= ($5, $6, ticket.addon_to)
               and (position.organizer, position.event, position.id) <= ($7, $8, ticket.addon_to)
             order by position.organizer, position.event, position.id
             limit 1) as parent) as "by0", ticket.id as "by1"
            from position as ticket
           where ticket.organizer = $9 and ticket.event = $10 and not ticket.canceled
             and ticket.counted_as = any($11::text[])
             and ticket.sort_name is null and ticket.addon_to is not null and (select parent.sort_name from (
               select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
                      position.item, position.variation, position.subevent, position.addon_to, position.secret,
                      position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
                      position.counted_as, position.attendee_name, position.sort_name, position.order_email,
                      position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
                 from position
                where (position.organizer, position.event, position.id) >= ($12, $13, ticket.addon_to)
                  and (position.organizer, position.event, position.id) <= ($14, $15, ticket.addon_to)
                order by position.organizer, position.event, position.id
                limit 1) as parent) is not null
           order by (select parent.sort_name from (
             select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
                    position.item, position.variation, position.subevent, position.addon_to, position.secret,
                    position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
                    position.counted_as, position.attendee_name, position.sort_name, position.order_email,
                    position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
               from position
              where (position.organizer, position.event, position.id) >= ($16, $17, ticket.addon_to)
                and (position.organizer, position.event, position.id) <= ($18, $19, ticket.addon_to)
              order by position.organizer, position.event, position.id
              limit 1) as parent), ticket.id desc limit $20)) as page
 order by page."by0", page."by1" desc
 limit $21 offset $22;

-- pageIds, by last scan
select coalesce(sum(count_delta.positions) filter (where count_delta.list = 0), 0)::bigint as positions,
       coalesce(sum(count_delta.entered) filter (where count_delta.list = $1), 0)::bigint as entered
  from count_delta
 where count_delta.organizer = $2
   and count_delta.event = $3
   and count_delta.list in (0, $4)
   and count_delta.counted_as = any($5::text[]);

-- pageIds, by last scan
select count(*) as count
  from presence as scanned
  join position as ticket
    on ticket.organizer = scanned.organizer and ticket.event = scanned.event and ticket.id = scanned.position
 where scanned.organizer = $1 and scanned.event = $2
   and scanned.list = $3 and scanned.entries = 0 and scanned.last_type is not null
   and ticket.organizer = $4 and ticket.event = $5 and not ticket.canceled
   and ticket.counted_as = any($6::text[]) and ticket.counted_as is not null;

-- pageIds, by last scan
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and not coalesce((select true from presence
                      where presence.organizer = ticket.organizer and presence.event = ticket.event
                        and presence.position = ticket.id and presence.list = $4 and presence.last_type is not null limit 1), false)
 order by ticket.id desc limit $5 offset $6;

-- pageIds, by last scan
select ticket.id as id
  from presence as scanned
 cross join lateral (
   select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
          position.item, position.variation, position.subevent, position.addon_to, position.secret,
          position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
          position.counted_as, position.attendee_name, position.sort_name, position.order_email,
          position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
     from position
    where (position.organizer, position.event, position.id) >= ($1, $2, scanned.position)
      and (position.organizer, position.event, position.id) <= ($3, $4, scanned.position)
    order by position.organizer, position.event, position.id
    limit 1) as ticket
 where scanned.organizer = $5 and scanned.event = $6 and scanned.list = $7
   and scanned.last_type is not null
   and ticket.organizer = $8 and ticket.event = $9 and not ticket.canceled
   and ticket.counted_as = any($10::text[])
 order by scanned.last_at, scanned.position desc limit $11 offset $12;

-- pageIds, by last scan, few without
select ticket.id as id
  from presence as scanned
 cross join lateral (
   select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
          position.item, position.variation, position.subevent, position.addon_to, position.secret,
          position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
          position.counted_as, position.attendee_name, position.sort_name, position.order_email,
          position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
     from position
    where (position.organizer, position.event, position.id) >= ($1, $2, scanned.position)
      and (position.organizer, position.event, position.id) <= ($3, $4, scanned.position)
    order by position.organizer, position.event, position.id
    limit 1) as ticket
 where scanned.organizer = $5 and scanned.event = $6 and scanned.list = $7
   and scanned.last_type is not null
   and ticket.organizer = $8 and ticket.event = $9 and not ticket.canceled
   and ticket.counted_as = any($10::text[])
 order by scanned.last_at desc, scanned.position desc limit $11 offset $12;

-- pageIds, by number
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.positionid < 1
 order by ticket.positionid, ticket.id desc limit $4 offset $5;

-- pageIds, by number
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.positionid = 1
 order by ticket.id desc limit $4 offset $5;

-- pageIds, by number
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.positionid > 1
 order by ticket.positionid, ticket.id desc limit $4 offset $5;

-- pageIds, by e-mail address
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and left(lower(ticket.order_email), 250) is not null
 order by left(lower(ticket.order_email), 250), lower(ticket.order_email), ticket.id desc limit $4 offset $5;

-- pageIds, by e-mail address
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and left(lower(ticket.order_email), 250) is null
 order by left(lower(ticket.order_email), 250) desc, ticket.id desc limit $4 offset $5;

-- pageIds, by order
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
 order by upper(ticket.order_code), ticket.order_code, ticket.id desc limit $4 offset $5;

-- pageIds, by time
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
 order by ticket.order_placed_at desc, ticket.id desc limit $4 offset $5;

-- pageIds, by order and name
select ticket.id as id
  from position as ticket
  left join lateral (
    select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
           position.item, position.variation, position.subevent, position.addon_to, position.secret,
           position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
           position.counted_as, position.attendee_name, position.sort_name, position.order_email,
           position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
      from position
     where (position.organizer, position.event, position.id) >= ($1, $2, ticket.addon_to)
       and (position.organizer, position.event, position.id) <= ($3, $4, ticket.addon_to)
     order by position.organizer, position.event, position.id
     limit 1) as parent on true
 where ticket.organizer = $5 and ticket.event = $6 and not ticket.canceled
   and ticket.counted_as = any($7::text[])
 order by upper(ticket.order_code), ticket.order_code, coalesce(ticket.sort_name, parent.sort_name) nulls first, ticket.id desc
 limit $8 offset $9;

-- idsBehind
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and ticket.sort_name is not null and (ticket.sort_name, ticket.positionid, ticket.id) > ($4, $5, $6)
 order by ticket.sort_name, ticket.positionid, ticket.id limit $7 offset $8;

-- idsBehind, by time
select ticket.id as id
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and ticket.order_placed_at >= $4::timestamptz
   and (ticket.order_placed_at > $5::timestamptz or ticket.order_placed_at = $6::timestamptz and ticket.id < $7)
 order by ticket.order_placed_at, ticket.id desc limit $8 offset $9;

-- sortIds, of a search
with found as materialized (
  select ticket.id as id, (ticket.secret = $1) as "by0", ticket.sort_name as "by1", ticket.positionid as "by2", ticket.id as "by3"
    from unnest($2::bigint[]) as found (id)
   cross join lateral (
     select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
            position.item, position.variation, position.subevent, position.addon_to, position.secret,
            position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
            position.counted_as, position.attendee_name, position.sort_name, position.order_email,
            position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
       from position
      where (position.organizer, position.event, position.id) >= ($3, $4, found.id)
        and (position.organizer, position.event, position.id) <= ($5, $6, found.id) order by position.organizer, position.event, position.id
      limit 1) as ticket
   where ticket.organizer = $7 and ticket.event = $8 and not ticket.canceled
     and ticket.counted_as = any($9::text[])
)
select found.id
  from found
 order by found."by0" desc, found."by1", found."by2", found."by3"
 limit $10 offset $11;

-- findReached, by last scan
select json_build_array(presence.last_at::text, ticket.id) as place,
       concat_ws('.', ticket.revision, coalesce(parent.revision, 0), coalesce(presence.version, 0)) as stamp
  from (
    select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
           position.item, position.variation, position.subevent, position.addon_to, position.secret,
           position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
           position.counted_as, position.attendee_name, position.sort_name, position.order_email,
           position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
      from position
     where (position.organizer, position.event, position.id) >= ($1, $2, $3)
       and (position.organizer, position.event, position.id) <= ($4, $5, $6) order by position.organizer, position.event, position.id
     limit 1) as ticket
  left join lateral (
    select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
           position.item, position.variation, position.subevent, position.addon_to, position.secret,
           position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
           position.counted_as, position.attendee_name, position.sort_name, position.order_email,
           position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
      from position
     where (position.organizer, position.event, position.id) >= ($7, $8, ticket.addon_to)
       and (position.organizer, position.event, position.id) <= ($9, $10, ticket.addon_to)
     order by position.organizer, position.event, position.id
     limit 1) as parent on true
  left join lateral (
    select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
           presence.last_type, presence.last_at
      from presence
     where (presence.position, presence.list, presence.event, presence.organizer) >= (ticket.id, $11, $12, $13)
       and (presence.position, presence.list, presence.event, presence.organizer) <= (ticket.id, $14, $15, $16)
     order by presence.position, presence.list, presence.event, presence.organizer
     limit 1) as presence on true;
