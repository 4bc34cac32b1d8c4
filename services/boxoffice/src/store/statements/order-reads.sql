-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readOrders
select sized.code, sized.data, sized.changed_at as "changedAt"
  from (select wanted.place, "order".code, "order".data, "order".changed_at,
               sum(octet_length("order".data::text)) over (order by wanted.place) as bytes
          from unnest($1::text[]) with ordinality as wanted (code, place)
         cross join lateral (
           select "order".code, "order".data - 'unread' as data, "order".changed_at
             from "order"
            where ("order".organizer, "order".event, "order".code) >= ($2, $3, wanted.code)
              and ("order".organizer, "order".event, "order".code) <= ($4, $5, wanted.code)
            order by "order".organizer, "order".event, "order".code
            limit 1) as "order") as sized
 where sized.place = 1
    or sized.bytes <= $6
 order by sized.place;

-- readStatesOf
select sized.id, sized.state, case when sized.given <= $1 then case when sized.answers_revision is not null then
                                                               jsonb_build_object('upTo', sized.answers_revision, 'answers', array(
                                                                 select jsonb_build_object('question', gate_answer.question, 'revision',
                                                                                           gate_answer.revision,
                                                                                           'answer', encode(gate_answer.answer, 'base64'),
                                                                                           'file', gate_answer.file,
                                                                                           'awaitedRevision', gate_answer.awaited_revision)
                                                                   from gate_answer
                                                                  where gate_answer.organizer = sized.organizer
                                                                    and gate_answer.event = sized.event
                                                                    and gate_answer.position = sized.id))
                                                               end end as gate,
       sized.given > $2 as "isCut"
  from (select wanted.place, position.organizer, position.event, position.id, position.state, position.answers_revision,
               sum(octet_length(position.state) + given.bytes) over (order by wanted.place) as bytes,
               sum(given.bytes) over (order by wanted.place) as given
          from unnest($3::bigint[]) with ordinality as wanted (id, place)
         cross join lateral (
           select position.organizer, position.event, position.id, position.state, position.answers_revision
             from position
            where (position.organizer, position.event, position.id) >= ($4, $5, wanted.id)
              and (position.organizer, position.event, position.id) <= ($6, $7, wanted.id)
            order by position.organizer, position.event, position.id
            limit 1) as position
         cross join lateral (
           select case when position.answers_revision is null then 0 else (
             select coalesce(sum(octet_length(gate_answer.answer)), 0)
               from gate_answer
              where gate_answer.organizer = position.organizer
                and gate_answer.event = position.event
                and gate_answer.position = position.id)
                  end as bytes) as given) as sized
 where sized.place <= $8
    or sized.bytes <= $9;
