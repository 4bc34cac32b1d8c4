-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findOtherMeanings
select asked.ord, medium.linked_positions as linked, revoked.is_revoked as revoked, revoked.position as revoked_position,
       case when asked.maybe_signed
            then (select event.ticket_keys::text
                    from event
                   where event.organizer = asked.organizer
                     and event.event = asked.event)
        end as ticket_keys
  from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::timestamptz[],
              $6::boolean[]) with ordinality as "asked" ("organizer", "event", "code", "source_type", "at", "maybe_signed", "ord")
  left join lateral (
    select reusable_medium.linked_positions
      from reusable_medium
     where reusable_medium.organizer = asked.organizer
       and reusable_medium.identifier = asked.code
       and reusable_medium.type = asked.source_type
       and reusable_medium.active
       and (reusable_medium.expires_at is null or reusable_medium.expires_at > asked.at)
       and jsonb_array_length(reusable_medium.linked_positions) > 0
     limit 1
  ) as medium on true
  left join lateral (
    select true as is_revoked, revoked_secret.position
      from revoked_secret
     where revoked_secret.organizer = asked.organizer
       and revoked_secret.event = asked.event
       and lower(left(revoked_secret.secret, 250)) = lower(left(asked.code collate "C", 250))
       and revoked_secret.secret = asked.code
     order by revoked_secret.id desc
     limit 1
  ) as revoked on true;
