-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- putGivenAnswers
insert into given_answer as kept (organizer, event, position, question, revision, state)
select sent.organizer, sent.event, sent.id, sent.question, nextval('answer_revision'), sent.state
  from unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bytea[],
              $6::bigint[]) as "sent" ("organizer", "event", "id", "question", "state", "applied_up_to")
  left join lateral (
    select given_answer.revision, given_answer.state
      from given_answer
     where (given_answer.position, given_answer.question, given_answer.event, given_answer.organizer)
           >= (sent.id, sent.question, sent.event, sent.organizer)
       and (given_answer.position, given_answer.question, given_answer.event, given_answer.organizer)
           <= (sent.id, sent.question, sent.event, sent.organizer)
     order by given_answer.position, given_answer.question, given_answer.event, given_answer.organizer
     limit 1) as before on true
 where (before.state is distinct from sent.state or before.revision <= sent.applied_up_to)
   and not exists (select from erasure
                    where erasure.organizer = sent.organizer
                      and erasure.event = sent.event
                      and erasure.is_taken_on
                      and erasure.kinds && $7::text[])
 order by sent.id, sent.question, sent.event, sent.organizer
    on conflict (position, question, event, organizer) do update
   set revision = excluded.revision, state = excluded.state
returning kept.organizer, kept.event, kept.position as id;

-- putGivenAnswers
select kept.organizer, kept.event, kept.position as id, kept.question, kept.revision, kept.state
  from (select distinct changed.organizer, changed.event, changed.id
          from unnest($1::text[], $2::text[], $3::bigint[]) as "changed" ("organizer", "event", "id")) as changed
  join given_answer as kept
    on kept.position = changed.id and kept.event = changed.event and kept.organizer = changed.organizer
 order by kept.question;
