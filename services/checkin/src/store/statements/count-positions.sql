-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countPositions
select coalesce(sum(count_delta.positions) filter (where count_delta.list = 0), 0)::bigint as positions,
       coalesce(sum(count_delta.entered) filter (where count_delta.list = $1), 0)::bigint as entered
  from count_delta
 where count_delta.organizer = $2
   and count_delta.event = $3
   and count_delta.list in (0, $4)
   and count_delta.counted_as = any($5::text[]);

-- countPositions, scanned
select count(*) as count
  from presence as scanned
  join position as ticket
    on ticket.organizer = scanned.organizer and ticket.event = scanned.event and ticket.id = scanned.position
 where scanned.organizer = $1 and scanned.event = $2
   and scanned.list = $3 and scanned.entries = 0 and scanned.last_type is not null
   and ticket.organizer = $4 and ticket.event = $5 and not ticket.canceled
   and ticket.counted_as = any($6::text[]) and ticket.counted_as is not null;

-- countPositions, in any state
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled and ticket.counted_as is null;

-- countPositions, usable
select count(*) as count
  from position as ticket
 where ticket.organizer = $1 and ticket.event = $2 and not ticket.canceled
   and ticket.counted_as = any($3::text[]) and ticket.id = any (array(
     select limited.id
       from position as limited
      where limited.organizer = $4
        and limited.event = $5
        and (limited.blocked or limited.valid_from_at is not null or limited.valid_until_at is not null)
        and (limited.blocked or limited.valid_from_at > $6::timestamptz or limited.valid_until_at < $7::timestamptz)
      union
     select coded.id
       from blocked_secret
       join position as coded
         on coded.organizer = $8 and coded.event = $9 and coded.secret = blocked_secret.secret
            and lower(left(coded.secret, 250)) = lower(left(blocked_secret.secret, 250))
      where blocked_secret.organizer = $10 and blocked_secret.event = $11 and blocked_secret.blocked));
