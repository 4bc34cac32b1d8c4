-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findTickets
select sold.organizer, sold.event, sold.state, sold.id, sold.revision as revision, sold.earlier_checkins as "earlierCheckins",
       case when sold.answers_revision is not null then
       jsonb_build_object('upTo', sold.answers_revision, 'answers', array(
         select jsonb_build_object('question', gate_answer.question, 'revision', gate_answer.revision,
                                   'answer', encode(gate_answer.answer, 'base64'), 'file', gate_answer.file,
                                   'awaitedRevision', gate_answer.awaited_revision)
           from gate_answer
          where gate_answer.organizer = sold.organizer
            and gate_answer.event = sold.event
            and gate_answer.position = sold.id))
       end as gate
  from (select distinct named.organizer, named.event, named.order_code
          from unnest($1::text[])
               as wanted (ticket)
         cross join lateral (select position.organizer, position.event, position.order_code
                               from position
                              where (position.organizer || '/' || position.event || '/' || position.secret) = wanted.ticket
                              limit $2) as named) as found
  join "order"
    on "order".organizer = found.organizer and "order".event = found.event and "order".code = found.order_code
 cross join lateral jsonb_path_query("order".data, '$.positions[*].id') as listed (id)
  join position as sold
    on sold.organizer = found.organizer and sold.event = found.event and sold.id = listed.id::bigint
 order by sold.organizer, sold.event, sold.order_code, sold.id
 limit $3;
