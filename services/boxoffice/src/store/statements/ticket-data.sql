-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readPositionsOfOrders
with listed as materialized (
  select wanted.place, element.id::bigint as id
    from unnest($1::text[]) with ordinality as wanted (code, place)
   cross join lateral (
     select "order".data
       from "order"
      where ("order".organizer, "order".event, "order".code) >= ($2, $3, wanted.code)
        and ("order".organizer, "order".event, "order".code) <= ($4, $5, wanted.code)
      order by "order".organizer, "order".event, "order".code
      limit 1) as "order"
   cross join lateral jsonb_path_query("order".data, '$.positions[*].id') as element (id)
), sized as (
  select listed.place,
         sum(sum(octet_length(position.state))) over (order by listed.place) as bytes
    from listed cross join lateral (select position.organizer, position.event, position.id, position.order_code, position.positionid,
                                           position.item, position.subevent, position.state, null::bytea as earlier_checkins,
                                           position.answers_revision, position.revision
                                      from position
                                     where position.organizer = $6
                                       and position.event = $7
                                       and position.id = listed.id
                                     limit 1) as position
   group by listed.place
)
select position.organizer, position.event, position.state, position.id, position.revision as revision,
       position.earlier_checkins as "earlierCheckins",
       case when position.answers_revision is not null then
       jsonb_build_object('upTo', position.answers_revision, 'answers', array(
         select jsonb_build_object('question', gate_answer.question, 'revision', gate_answer.revision,
                                   'answer', encode(gate_answer.answer, 'base64'), 'file', gate_answer.file,
                                   'awaitedRevision', gate_answer.awaited_revision)
           from gate_answer
          where gate_answer.organizer = position.organizer
            and gate_answer.event = position.event
            and gate_answer.position = position.id))
       end as gate, position.order_code as "orderCode", position.item, position.subevent
  from sized
  join listed on listed.place = sized.place
 cross join lateral (select position.organizer, position.event, position.id, position.order_code, position.positionid,
                            position.item, position.subevent, position.state, null::bytea as earlier_checkins,
                            position.answers_revision, position.revision
                       from position
                      where position.organizer = $8
                        and position.event = $9
                        and position.id = listed.id
                      limit 1) as position
 where sized.place = 1
    or sized.bytes <= $10
 order by listed.place, position.positionid, position.id;
