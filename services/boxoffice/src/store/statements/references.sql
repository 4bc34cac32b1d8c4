-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findMentioned
select exists (select from organizer where organizer.slug = $1) as organizer,
       (select min(event.slug)
          from event
         where event.organizer = $2
           and event.slug = any($3::text[])
           and event.is_removed) as being_removed,
       (select (event.data -> 'has_subevents')::boolean
          from event
         where event.organizer = $4
           and event.slug = $5) as series,
       (select jsonb_object_agg(event.slug, event.data -> 'has_subevents')
          from event
         where event.organizer = $6
           and event.slug = any($7::text[])) as events,
       (select jsonb_object_agg(gate.id, gate.data -> 'name')
          from gate
         where gate.organizer = $8
           and gate.id = any($9::bigint[])) as gates,
       array(select sales_channel.identifier
               from sales_channel
              where sales_channel.organizer = $10
                and sales_channel.identifier = any($11::text[])) as sales_channels,
       array(select subevent.id
               from subevent
              where subevent.organizer = $12
                and subevent.event = $13
                and subevent.id = any($14::bigint[])) as subevents,
       array(select tax_rule.id
               from tax_rule
              where tax_rule.organizer = $15
                and tax_rule.event = $16
                and tax_rule.id = any($17::bigint[])) as tax_rules,
       array(select category.id
               from category
              where category.organizer = $18
                and category.event = $19
                and category.id = any($20::bigint[])) as categories,
       (select jsonb_object_agg(item.id, jsonb_path_query_array(item.data, '$.variations[*].id'))
          from item
         where item.organizer = $21
           and item.event = $22
           and ($23::boolean or item.id = any($24::bigint[]))) as items,
       (select jsonb_object_agg("order".code, jsonb_path_query_array("order".data, '$.positions[*].id'))
          from "order"
         where "order".organizer = $25
           and "order".event = $26
           and "order".code = any($27::text[])) as orders,
       array(select sold_ticket.order_code
               from sold_ticket
              where sold_ticket.organizer = $28
                and sold_ticket.order_code = any($29::text[])) as codes_made_here,
       (select jsonb_object_agg(position.id, jsonb_build_object(
         'order', position.order_code,
         'changedAt', (extract(epoch from ("order".data ->> 'last_modified')::timestamptz) * 1000000)::bigint,
         'secret', position.secret,
         'isLeftOut', position.left_out))
          from position
          left join "order"
            on "order".organizer = position.organizer
               and "order".event = position.event
               and "order".code = position.order_code
         where position.organizer = $30
           and position.event = $31
           and position.id = any($32::bigint[])) as positions,
       (select jsonb_object_agg(question.id, jsonb_build_object(
         'type', question.data -> 'type',
         'identifier', question.data -> 'identifier',
         'options', coalesce((select jsonb_object_agg(choice ->> 'id', choice -> 'identifier')
                                from jsonb_array_elements(question.data -> 'options') as choice), '{}'),
         'askedAtCheckin', question.data -> 'ask_during_checkin',
         'dependsOn', question.data -> 'dependency_question'))
          from question
         where question.organizer = $33
           and question.event = $34
           and ($35::boolean or question.id = any($36::bigint[]))) as questions,
       (select jsonb_object_agg(found.id, to_jsonb(found) || jsonb_build_object('heldBy', holder."heldBy"))
          from (select wanted.id
                  from unnest($37::bigint[]) as wanted (id)
                 union
                select named.id
                  from unnest($38::text[],
                              $39::bigint[]) as wanted (guid, subevent)
                 cross join lateral (select seat.id
                                       from seat
                                      where (seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0))
                                            >= ($40, $41, wanted.guid, wanted.subevent)
                                        and (seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0))
                                            <= ($42, $43, wanted.guid, wanted.subevent)
                                      order by seat.organizer, seat.event, seat.guid, coalesce(seat.subevent, 0)
                                      limit 1) as named) as wanted
         cross join lateral (select seat.id, seat.guid, seat.subevent, seat.data
                               from seat
                              where (seat.organizer, seat.event, seat.id) >= ($44, $45, wanted.id)
                                and (seat.organizer, seat.event, seat.id) <= ($46, $47, wanted.id)
                              order by seat.organizer, seat.event, seat.id
                              limit 1) as found
          left join lateral (select position.id as "heldBy"
                               from position
                              where position.seat is not null
                                and position.taken_as is not null
                                and (position.organizer, position.event, position.seat) >= ($48, $49, found.id)
                                and (position.organizer, position.event, position.seat) <= ($50, $51, found.id)
                              order by position.organizer, position.event, position.seat
                              limit 1) as holder on true) as seats,
       (select jsonb_object_agg(medium.id, to_jsonb(medium))
          from (select wanted.id
                  from unnest($52::bigint[]) as wanted (id)
                 union
                select named.id
                  from unnest($53::text[],
                              $54::text[]) as wanted (identifier, type)
                 cross join lateral (select reusable_medium.id
                                       from reusable_medium
                                      where reusable_medium.organizer = $55
                                        and reusable_medium.identifier = wanted.identifier
                                        and reusable_medium.type = wanted.type
                                      limit 1) as named) as wanted
         cross join lateral (select reusable_medium.id, reusable_medium.type, reusable_medium.identifier
                               from reusable_medium
                              where reusable_medium.organizer = $56
                                and reusable_medium.id = wanted.id
                              limit 1) as medium) as media,
       (select jsonb_object_agg(linked.id, linked.events)
          from (select position.id, jsonb_agg(position.event) as events
                  from unnest($57::bigint[]) as wanted (id)
                  join event on event.organizer = $58
                 cross join lateral (select position.id, position.event
                                       from position
                                      where position.organizer = $59
                                        and position.event = event.slug
                                        and position.id = wanted.id
                                      limit 1) as position
                 group by position.id) as linked) as linked_positions,
       (select jsonb_object_agg(encode(credential.token_hash, 'hex'), concat_ws('/', credential.organizer, credential.kind, credential.id))
          from credential
         where credential.token_hash = any($60::bytea[])) as tokens;
