-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countPositions, with a code
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and lower(left(ticket.secret, 250)) = lower(left($4 collate "C", 250)) and ticket.secret = $5 and true;

-- countPositions, of an order
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.subevent = $3
   and ticket.item = any($4::bigint[])
   and ticket.counted_as = any($5::text[])
   and upper(ticket.order_code) = upper($6 collate "C")
   and ticket.item = any($7::bigint[])
   and ticket.variation = any($8::bigint[])
   and ticket.subevent = any($9::bigint[]) and true;

-- countPositions, of a name
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and ticket.id = any (array(
     with named as (
       select found.id
         from position as found
        where found.organizer = $4 and found.event = $5 and found.attendee_name <> ''
          and found.search_text like $6
          and found.search_text || chr(10) like $7
     )
     select named.id from named
      union all
     select addon.id
       from named
       join position as addon
         on addon.organizer = $8 and addon.event = $9 and addon.addon_to = named.id)) and true;

-- countPositions, scanned add-ons
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and ticket.addon_to = any($4::bigint[])
   and  coalesce((select true from presence
                   where presence.organizer = ticket.organizer and presence.event = ticket.event
                     and presence.position = ticket.id and presence.list = $5 and presence.last_type is not null limit 1), false) and true;

-- countPositions, not scanned
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and ticket.voucher = $4
   and not coalesce((select true from presence
                      where presence.organizer = ticket.organizer and presence.event = ticket.event
                        and presence.position = ticket.id and presence.list = $5 and presence.last_type is not null limit 1), false)
   and true;

-- countPositions, usable
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and ticket.pseudonymization_id = $4
   and not coalesce((select true
                       from position as limited
                      where limited.organizer = ticket.organizer and limited.event = ticket.event
                        and limited.id = ticket.id
                        and (limited.blocked or limited.valid_from_at is not null or limited.valid_until_at is not null)
                        and (limited.blocked or limited.valid_from_at > $5::timestamptz or limited.valid_until_at < $6::timestamptz)
                      limit 1), false)
   and ticket.id not in (
     select coded.id
       from blocked_secret
       join position as coded
         on coded.organizer = $7 and coded.event = $8 and coded.secret = blocked_secret.secret
            and lower(left(coded.secret, 250)) = lower(left(blocked_secret.secret, 250))
      where blocked_secret.organizer = $9 and blocked_secret.event = $10 and blocked_secret.blocked) and true;

-- countPositions, known as usable
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[])
   and ticket.id = $4
   and ticket.id <> all($5::bigint[]) and true;
