-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- insertLink
insert into session (id, organizer, name, permissions, all_events, events, link_hash, link_ends_at, seconds)
values ($1, $2, $3, $4::text[], $5,
        $6::text[], $7, now() + make_interval(secs => $8), $9)
    on conflict (link_hash) do nothing;

-- insertLink
select session.id, session.organizer, session.name, session.permissions, session.all_events as "allEvents", session.events,
       case when session.revoked_at is not null then 'revoked'
            when session.left_at is not null or coalesce(session.ends_at, session.link_ends_at) <= now() then 'ended'
            when session.token_hash is null then 'open'
            else 'in use' end as state, (extract(epoch from session.created_at) * 1000000)::bigint as "createdAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at)) * 1000000)::bigint as "endsAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at) - now()) * 1000)::bigint as "endsInMs",
       (extract(epoch from session.began_at) * 1000000)::bigint as "beganAt" from session where session.link_hash = $1;

-- insertSession
insert into session (id, organizer, name, permissions, all_events, events, seconds, token_hash, began_at, ends_at)
values ($1, $2, $3, $4::text[], $5,
        $6::text[], $7, $8, now(),
        now() + make_interval(secs => $9))
returning session.id, session.organizer, session.name, session.permissions, session.all_events as "allEvents", session.events,
       case when session.revoked_at is not null then 'revoked'
            when session.left_at is not null or coalesce(session.ends_at, session.link_ends_at) <= now() then 'ended'
            when session.token_hash is null then 'open'
            else 'in use' end as state, (extract(epoch from session.created_at) * 1000000)::bigint as "createdAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at)) * 1000000)::bigint as "endsAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at) - now()) * 1000)::bigint as "endsInMs",
       (extract(epoch from session.began_at) * 1000000)::bigint as "beganAt";

-- redeemLink
update session
   set token_hash = $1,
       began_at = now(),
       ends_at = now() + make_interval(secs => session.seconds)
 where session.link_hash = $2
   and session.token_hash is null
   and session.revoked_at is null
   and session.link_ends_at > now()
returning session.id, session.organizer, session.name, session.permissions, session.all_events as "allEvents", session.events,
       case when session.revoked_at is not null then 'revoked'
            when session.left_at is not null or coalesce(session.ends_at, session.link_ends_at) <= now() then 'ended'
            when session.token_hash is null then 'open'
            else 'in use' end as state, (extract(epoch from session.created_at) * 1000000)::bigint as "createdAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at)) * 1000000)::bigint as "endsAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at) - now()) * 1000)::bigint as "endsInMs",
       (extract(epoch from session.began_at) * 1000000)::bigint as "beganAt";

-- findSession
select session.id, session.organizer, session.name, session.permissions, session.all_events as "allEvents", session.events,
       case when session.revoked_at is not null then 'revoked'
            when session.left_at is not null or coalesce(session.ends_at, session.link_ends_at) <= now() then 'ended'
            when session.token_hash is null then 'open'
            else 'in use' end as state, (extract(epoch from session.created_at) * 1000000)::bigint as "createdAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at)) * 1000000)::bigint as "endsAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at) - now()) * 1000)::bigint as "endsInMs",
       (extract(epoch from session.began_at) * 1000000)::bigint as "beganAt" from session where session.token_hash = $1;

-- leaveSession
update session set left_at = now() where session.organizer = $1 and session.id = $2 and session.left_at is null;

-- revokeSession
update session set revoked_at = coalesce(session.revoked_at, now()) where session.organizer = $1 and session.id = $2;

-- pageSessions
select session.id, session.organizer, session.name, session.permissions, session.all_events as "allEvents", session.events,
       case when session.revoked_at is not null then 'revoked'
            when session.left_at is not null or coalesce(session.ends_at, session.link_ends_at) <= now() then 'ended'
            when session.token_hash is null then 'open'
            else 'in use' end as state, (extract(epoch from session.created_at) * 1000000)::bigint as "createdAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at)) * 1000000)::bigint as "endsAt",
       (extract(epoch from coalesce(session.ends_at, session.link_ends_at) - now()) * 1000)::bigint as "endsInMs",
       (extract(epoch from session.began_at) * 1000000)::bigint as "beganAt"
  from session
 where session.organizer = $1
 order by session.created_at desc, session.id desc
 limit $2 offset $3;
