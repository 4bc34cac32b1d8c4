-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- claimRequest
insert into kept_answer (caller, key, request_hash, leased_until, organizer, event, deletion)
values ($1, $2, $3, now() + make_interval(secs => $4),
        $5, $6, null)
    on conflict (caller, key) do update
   set request_hash = excluded.request_hash,
       request_id = case when kept_answer.created_at < now() - make_interval(hours => $7)
                    or exists (select from deleted_event
                                where deleted_event.organizer = kept_answer.organizer
                                  and deleted_event.event = kept_answer.event
                                  and deleted_event.deletion is distinct from kept_answer.deletion) then gen_random_uuid() else kept_answer.request_id end,
       attempt = kept_answer.attempt + 1,
       leased_until = excluded.leased_until,
       status = null,
       headers = null,
       body = null,
       is_erased = false,
       organizer = excluded.organizer,
       event = excluded.event,
       deletion = excluded.deletion,
       created_at = case when kept_answer.created_at < now() - make_interval(hours => $8) then now() else kept_answer.created_at end
 where kept_answer.created_at < now() - make_interval(hours => $9)
    or (kept_answer.request_hash = excluded.request_hash
        and case when kept_answer.status is null then kept_answer.leased_until <= now() else exists (select from deleted_event
                                                                                                      where deleted_event.organizer = kept_answer.organizer
                                                                                                        and deleted_event.event = kept_answer.event
                                                                                                        and deleted_event.deletion is distinct from kept_answer.deletion) end)
returning kept_answer.request_id, kept_answer.attempt;

-- claimRequest
select kept_answer.request_hash, kept_answer.leased_until > now() as is_leased, kept_answer.is_erased,
       exists (select from deleted_event
                where deleted_event.organizer = kept_answer.organizer
                  and deleted_event.event = kept_answer.event
                  and deleted_event.deletion is distinct from kept_answer.deletion) as is_of_deleted, kept_answer.status,
         kept_answer.headers, kept_answer.body
  from kept_answer
 where kept_answer.caller = $1
   and kept_answer.key = $2
   and not kept_answer.created_at < now() - make_interval(hours => $3);

-- claimRequest, of an event
insert into kept_answer (caller, key, request_hash, leased_until, organizer, event, deletion)
values ($1, $2, $3, now() + make_interval(secs => $4),
        $5, $6, (select case when exists (select from event where event.organizer = $7 and event.event = $8)
                        then deleted_event.deletion
                        else gen_random_uuid() end
                   from deleted_event
                  where deleted_event.organizer = $9
                    and deleted_event.event = $10))
    on conflict (caller, key) do update
   set request_hash = excluded.request_hash,
       request_id = case when kept_answer.created_at < now() - make_interval(hours => $11)
                    or exists (select from deleted_event
                                where deleted_event.organizer = kept_answer.organizer
                                  and deleted_event.event = kept_answer.event
                                  and deleted_event.deletion is distinct from kept_answer.deletion) then gen_random_uuid() else kept_answer.request_id end,
       attempt = kept_answer.attempt + 1,
       leased_until = excluded.leased_until,
       status = null,
       headers = null,
       body = null,
       is_erased = false,
       organizer = excluded.organizer,
       event = excluded.event,
       deletion = excluded.deletion,
       created_at = case when kept_answer.created_at < now() - make_interval(hours => $12) then now() else kept_answer.created_at end
 where kept_answer.created_at < now() - make_interval(hours => $13)
    or (kept_answer.request_hash = excluded.request_hash
        and case when kept_answer.status is null then kept_answer.leased_until <= now() else exists (select from deleted_event
                                                                                                      where deleted_event.organizer = kept_answer.organizer
                                                                                                        and deleted_event.event = kept_answer.event
                                                                                                        and deleted_event.deletion is distinct from kept_answer.deletion) end)
returning kept_answer.request_id, kept_answer.attempt;

-- keepAnswer
update kept_answer
   set status = case when not (
     exists (select from erasure
              where erasure.organizer = kept_answer.organizer
                and erasure.event = kept_answer.event
                and erasure.is_taken_on
                and erasure.kinds && $1::text[]) or exists (select from deleted_event
                                                             where deleted_event.organizer = kept_answer.organizer
                                                               and deleted_event.event = kept_answer.event
                                                               and deleted_event.deletion is distinct from kept_answer.deletion)) then $2::integer end,
       headers = case when not (
         exists (select from erasure
                  where erasure.organizer = kept_answer.organizer
                    and erasure.event = kept_answer.event
                    and erasure.is_taken_on
                    and erasure.kinds && $3::text[]) or exists (select from deleted_event
                                                                 where deleted_event.organizer = kept_answer.organizer
                                                                   and deleted_event.event = kept_answer.event
                                                                   and deleted_event.deletion is distinct from kept_answer.deletion)) then $4::jsonb end,
       body = case when not (
         exists (select from erasure
                  where erasure.organizer = kept_answer.organizer
                    and erasure.event = kept_answer.event
                    and erasure.is_taken_on
                    and erasure.kinds && $5::text[]) or exists (select from deleted_event
                                                                 where deleted_event.organizer = kept_answer.organizer
                                                                   and deleted_event.event = kept_answer.event
                                                                   and deleted_event.deletion is distinct from kept_answer.deletion)) then $6::bytea end,
       is_erased = (
         exists (select from erasure
                  where erasure.organizer = kept_answer.organizer
                    and erasure.event = kept_answer.event
                    and erasure.is_taken_on
                    and erasure.kinds && $7::text[]) or exists (select from deleted_event
                                                                 where deleted_event.organizer = kept_answer.organizer
                                                                   and deleted_event.event = kept_answer.event
                                                                   and deleted_event.deletion is distinct from kept_answer.deletion)),
       leased_until = now()
 where kept_answer.caller = $8 and kept_answer.key = $9
   and kept_answer.request_id = $10::uuid and kept_answer.attempt = $11;

-- releaseRequest
update kept_answer set leased_until = now() where kept_answer.caller = $1 and kept_answer.key = $2
   and kept_answer.request_id = $3::uuid and kept_answer.attempt = $4;

-- eraseAnswers
with old as materialized (
  select old.caller, old.key
    from kept_answer as old
   where old.organizer = $1
     and old.event = $2
     and old.status is not null
     and true
   limit $3
), locked as materialized (
  select held.caller, held.key
    from old
    join kept_answer as held on held.caller = old.caller and held.key = old.key
   where held.organizer is not distinct from $4
     and held.event is not distinct from $5
     and held.status is not null
     and true
   order by held.caller, held.key
     for update of held
)
update kept_answer
   set status = null, headers = null, body = null, leased_until = now(), organizer = null, event = null, is_erased = true,
       request_id = case when exists (select from deleted_event
                                       where deleted_event.organizer = kept_answer.organizer
                                         and deleted_event.event = kept_answer.event
                                         and deleted_event.deletion is distinct from kept_answer.deletion) then gen_random_uuid() else kept_answer.request_id end
  from locked
 where kept_answer.caller = locked.caller
   and kept_answer.key = locked.key;

-- eraseAnswersOfDeleted
with old as materialized (
  select old.caller, old.key
    from kept_answer as old
   where old.organizer = $1
     and old.event = $2
     and old.status is not null
     and (
       not exists (select from event where event.organizer = $3 and event.event = $4)
       or exists (select from deleted_event
                   where deleted_event.organizer = old.organizer
                     and deleted_event.event = old.event
                     and deleted_event.deletion is distinct from old.deletion))
   limit $5
), locked as materialized (
  select held.caller, held.key
    from old
    join kept_answer as held on held.caller = old.caller and held.key = old.key
   where held.organizer is not distinct from $6
     and held.event is not distinct from $7
     and held.status is not null
     and (
       not exists (select from event where event.organizer = $8 and event.event = $9)
       or exists (select from deleted_event
                   where deleted_event.organizer = held.organizer
                     and deleted_event.event = held.event
                     and deleted_event.deletion is distinct from held.deletion))
   order by held.caller, held.key
     for update of held
)
update kept_answer
   set status = null, headers = null, body = null, leased_until = now(), organizer = null, event = null, is_erased = true,
       request_id = case when exists (select from deleted_event
                                       where deleted_event.organizer = kept_answer.organizer
                                         and deleted_event.event = kept_answer.event
                                         and deleted_event.deletion is distinct from kept_answer.deletion) then gen_random_uuid() else kept_answer.request_id end
  from locked
 where kept_answer.caller = locked.caller
   and kept_answer.key = locked.key;
