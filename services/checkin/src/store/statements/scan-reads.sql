-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readForScans
with place as materialized (
  select wanted.ord, list.organizer, list.event, list.id as list, list.addon_match, list.rules <> '{}' as has_rules,
         exists (select from blocked_secret
                  where blocked_secret.organizer = list.organizer and blocked_secret.event = list.event) as has_blocked,
         json_build_object(
           'list', json_build_object(
             'name', list.name, 'allProducts', list.all_products, 'limitProducts', list.limit_products,
             'subevent', list.subevent, 'includePending', list.include_pending,
             'allowMultipleEntries', list.allow_multiple_entries, 'allowEntryAfterExit', list.allow_entry_after_exit,
             'hardLimit', list.hard_limit, 'takesFrom', list.takes_from,
             'isTakenFrom', exists (
               select from list as other
                where other.organizer = list.organizer and other.event = list.event and other.takes_from <> '{}'
                  and list.id = any(other.takes_from)),
             'count', (
               select json_build_object('persons', case when held.is_counted then held.persons end)
                 from persons_inside as held
                where held.organizer = list.organizer and held.event = list.event and held.list = list.id),
             'rules', list.rules),
           'timezone', event.timezone, 'locale', event.locale,
           'downloads', json_build_object(
             'pdfEnabled', event.pdf_enabled, 'addons', event.pdf_for_addons,
             'nonAdmission', event.pdf_for_non_admission, 'pending', event.pdf_while_pending),
           'isMediumEnforced', event.reusable_media_usage_enforced,
           'dates', json_build_object(
             'from', (extract(epoch from event.date_from_at) * 1000000)::bigint, 'to',
             (extract(epoch from event.date_to_at) * 1000000)::bigint,
             'admission', (extract(epoch from event.date_admission_at) * 1000000)::bigint),
           'questions', (
             select json_agg(json_build_object('document', question.document::text, 'items', question.items)
                             order by question.position, question.id)
               from question
              where question.organizer = list.organizer and question.event = list.event
                and question.ask_during_checkin
                and not exists (select from erasure
                                 where erasure.organizer = list.organizer
                                   and erasure.event = list.event
                                   and erasure.is_taken_on
                                   and erasure.kinds && $1::text[]))) as terms
    from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as "wanted" ("organizer", "event", "list", "ord")
    join list on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.list
    join event on event.organizer = list.organizer and event.event = list.event
)
select asked.ord, nextval('scan_id') as scan_id, case when asked.is_first then place.terms end as terms,
       ticket.found_by, ticket.id as ticket, ticket.item as ticket_item, ticket.subevent as ticket_subevent,
       asked.nonce is not null and presence.version is not null and exists (
         select from scan
          where scan.nonce = asked.nonce and scan.event = place.event and scan.organizer = place.organizer
            and scan.position = ticket.id and scan.list = place.list and scan.successful) as has_nonce, place.has_blocked and exists (
         select from blocked_secret
          where blocked_secret.organizer = ticket.organizer and blocked_secret.event = ticket.event
            and lower(left(blocked_secret.secret, 250)) = lower(left(ticket.secret, 250))
            and blocked_secret.secret = ticket.secret and blocked_secret.blocked) as is_blocked,
       subevent.date_from_at as date_from, subevent.date_to_at as date_to, subevent.date_admission_at as date_admission,
       item.media_policy, item.media_type,
       case when item.media_policy is not null then (
         select json_agg(json_build_object('identifier', medium.identifier, 'expires',
                                           (extract(epoch from medium.expires_at) * 1000000)::bigint))
           from reusable_medium as medium
          where jsonb_path_query_array(medium.linked_positions, '$[*].id') @> jsonb_build_array(ticket.id)
            and medium.linked_positions @> jsonb_build_array(jsonb_build_object('event', ticket.event, 'id', ticket.id))
            and medium.organizer || '' = ticket.organizer
            and medium.type = item.media_type
            and medium.active) end as media,
       ticket.state, parent.state as parent_state,
       item.admission, item.generate_tickets, item.checkin_attention, item.checkin_text,
       case when ticket.variation is not null then (
         select element
           from jsonb_array_elements(item.variations) as element
          where (element ->> 'id')::bigint = ticket.variation
          limit 1) end as variation,
       presence.version, presence.entries, presence.last_type, presence.last_at, place.has_rules as is_ruled,
       case when presence.version is not null then (
         select json_agg(case when scan.place <= $5
                              then json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type, scan.id, scan.gate,
                                                    scan.device,
                                                    scan.device_id, scan.auto_checked_in)
                              else json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type) end
                         order by scan.place)
           from (select newest.id, newest.at, newest.type, newest.gate, newest.device, newest.device_id, newest.auto_checked_in,
                        row_number() over (order by newest.at desc, newest.id desc) as place
                   from (
                     select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
                       from scan
                      where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                            >= (presence.position, place.list, presence.event, presence.organizer, true)
                        and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                            <= (presence.position, place.list, presence.event, presence.organizer, true)
                      order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                               scan.at desc, scan.id desc
                      limit case when place.has_rules then $6::bigint else $7::bigint end) as newest) as scan
       ) end as history,
       given.revisions as given_revisions, given.states as given_states
  from (select set_config('synchronous_commit', 'off', true)) as commit_setting
 cross join unnest($8::bigint[],
                   $9::boolean[],
                   $10::text[],
                   $11::text[],
                   $12::bigint[],
                   $13::text[],
                   $14::text[],
                   $15::text[])
       with ordinality as asked (place, is_first, code, code_with_blanks, ticket_id, nonce, linked_by, linked, ord)
  join place on place.ord = asked.place
  left join lateral (
    select 'code' as found_by, position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position
     where position.organizer = place.organizer
       and position.event = place.event
       and lower(left(position.secret, 250)) = lower(left(asked.code collate "C", 250))
       and position.secret = asked.code
     union all
    select case when base.secret = asked.code then 'code' else 'code_with_blanks' end, position.organizer, position.event, position.id,
           position.item, position.variation, position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position as base
      join position
        on position.organizer = base.organizer and position.event = base.event and position.addon_to = base.id
     where place.addon_match
       and base.organizer = place.organizer
       and base.event = place.event
       and lower(left(base.secret, 250)) in (lower(left(asked.code collate "C", 250)),
                                             lower(left(asked.code_with_blanks collate "C", 250)))
       and base.secret in (asked.code, asked.code_with_blanks)
  ) as ticket on true
  left join subevent
    on subevent.organizer = ticket.organizer and subevent.event = ticket.event and subevent.id = ticket.subevent
  left join position as parent
    on parent.organizer = ticket.organizer and parent.event = ticket.event and parent.id = ticket.addon_to
       and coalesce(ticket.attendee_name, '') = ''
  left join item
    on item.organizer = ticket.organizer and item.event = ticket.event and item.id = ticket.item
  left join lateral (
    select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
           presence.last_type, presence.last_at
      from presence
     where (presence.position, presence.list, presence.event, presence.organizer) >= (ticket.id, place.list, ticket.event, ticket.organizer)
       and (presence.position, presence.list, presence.event, presence.organizer) <= (ticket.id, place.list, ticket.event, ticket.organizer)
     order by presence.position, presence.list, presence.event, presence.organizer
     limit 1) as presence on true
  left join lateral (
    select array_agg(given_answer.revision) as revisions, array_agg(given_answer.state) as states
      from given_answer
     where given_answer.organizer = ticket.organizer
       and given_answer.event = ticket.event
       and given_answer.position = ticket.id
  ) as given on true;

-- readForScans, in all ways
with place as materialized (
  select wanted.ord, list.organizer, list.event, list.id as list, list.addon_match, list.rules <> '{}' as has_rules,
         exists (select from blocked_secret
                  where blocked_secret.organizer = list.organizer and blocked_secret.event = list.event) as has_blocked,
         json_build_object(
           'list', json_build_object(
             'name', list.name, 'allProducts', list.all_products, 'limitProducts', list.limit_products,
             'subevent', list.subevent, 'includePending', list.include_pending,
             'allowMultipleEntries', list.allow_multiple_entries, 'allowEntryAfterExit', list.allow_entry_after_exit,
             'hardLimit', list.hard_limit, 'takesFrom', list.takes_from,
             'isTakenFrom', exists (
               select from list as other
                where other.organizer = list.organizer and other.event = list.event and other.takes_from <> '{}'
                  and list.id = any(other.takes_from)),
             'count', (
               select json_build_object('persons', case when held.is_counted then held.persons end)
                 from persons_inside as held
                where held.organizer = list.organizer and held.event = list.event and held.list = list.id),
             'rules', list.rules),
           'timezone', event.timezone, 'locale', event.locale,
           'downloads', json_build_object(
             'pdfEnabled', event.pdf_enabled, 'addons', event.pdf_for_addons,
             'nonAdmission', event.pdf_for_non_admission, 'pending', event.pdf_while_pending),
           'isMediumEnforced', event.reusable_media_usage_enforced,
           'dates', json_build_object(
             'from', (extract(epoch from event.date_from_at) * 1000000)::bigint, 'to',
             (extract(epoch from event.date_to_at) * 1000000)::bigint,
             'admission', (extract(epoch from event.date_admission_at) * 1000000)::bigint),
           'questions', (
             select json_agg(json_build_object('document', question.document::text, 'items', question.items)
                             order by question.position, question.id)
               from question
              where question.organizer = list.organizer and question.event = list.event
                and question.ask_during_checkin
                and not exists (select from erasure
                                 where erasure.organizer = list.organizer
                                   and erasure.event = list.event
                                   and erasure.is_taken_on
                                   and erasure.kinds && $1::text[]))) as terms
    from unnest($2::text[], $3::text[], $4::bigint[]) with ordinality as "wanted" ("organizer", "event", "list", "ord")
    join list on list.organizer = wanted.organizer and list.event = wanted.event and list.id = wanted.list
    join event on event.organizer = list.organizer and event.event = list.event
)
select asked.ord, nextval('scan_id') as scan_id, case when asked.is_first then place.terms end as terms,
       ticket.found_by, ticket.id as ticket, ticket.item as ticket_item, ticket.subevent as ticket_subevent,
       asked.nonce is not null and presence.version is not null and exists (
         select from scan
          where scan.nonce = asked.nonce and scan.event = place.event and scan.organizer = place.organizer
            and scan.position = ticket.id and scan.list = place.list and scan.successful) as has_nonce, place.has_blocked and exists (
         select from blocked_secret
          where blocked_secret.organizer = ticket.organizer and blocked_secret.event = ticket.event
            and lower(left(blocked_secret.secret, 250)) = lower(left(ticket.secret, 250))
            and blocked_secret.secret = ticket.secret and blocked_secret.blocked) as is_blocked,
       subevent.date_from_at as date_from, subevent.date_to_at as date_to, subevent.date_admission_at as date_admission,
       item.media_policy, item.media_type,
       case when item.media_policy is not null then (
         select json_agg(json_build_object('identifier', medium.identifier, 'expires',
                                           (extract(epoch from medium.expires_at) * 1000000)::bigint))
           from reusable_medium as medium
          where jsonb_path_query_array(medium.linked_positions, '$[*].id') @> jsonb_build_array(ticket.id)
            and medium.linked_positions @> jsonb_build_array(jsonb_build_object('event', ticket.event, 'id', ticket.id))
            and medium.organizer || '' = ticket.organizer
            and medium.type = item.media_type
            and medium.active) end as media,
       ticket.state, parent.state as parent_state,
       item.admission, item.generate_tickets, item.checkin_attention, item.checkin_text,
       case when ticket.variation is not null then (
         select element
           from jsonb_array_elements(item.variations) as element
          where (element ->> 'id')::bigint = ticket.variation
          limit 1) end as variation,
       presence.version, presence.entries, presence.last_type, presence.last_at, place.has_rules as is_ruled,
       case when presence.version is not null then (
         select json_agg(case when scan.place <= $5
                              then json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type, scan.id, scan.gate,
                                                    scan.device,
                                                    scan.device_id, scan.auto_checked_in)
                              else json_build_array((extract(epoch from scan.at) * 1000000)::bigint, scan.type) end
                         order by scan.place)
           from (select newest.id, newest.at, newest.type, newest.gate, newest.device, newest.device_id, newest.auto_checked_in,
                        row_number() over (order by newest.at desc, newest.id desc) as place
                   from (
                     select scan.id, scan.at, scan.type, scan.gate, scan.device, scan.device_id, scan.auto_checked_in
                       from scan
                      where (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                            >= (presence.position, place.list, presence.event, presence.organizer, true)
                        and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                            <= (presence.position, place.list, presence.event, presence.organizer, true)
                      order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                               scan.at desc, scan.id desc
                      limit case when place.has_rules then $6::bigint else $7::bigint end) as newest) as scan
       ) end as history,
       given.revisions as given_revisions, given.states as given_states
  from (select set_config('synchronous_commit', 'off', true)) as commit_setting
 cross join unnest($8::bigint[],
                   $9::boolean[],
                   $10::text[],
                   $11::text[],
                   $12::bigint[],
                   $13::text[],
                   $14::text[],
                   $15::text[])
       with ordinality as asked (place, is_first, code, code_with_blanks, ticket_id, nonce, linked_by, linked, ord)
  join place on place.ord = asked.place
  left join lateral (
    select 'code' as found_by, position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position
     where position.organizer = place.organizer
       and position.event = place.event
       and lower(left(position.secret, 250)) = lower(left(asked.code collate "C", 250))
       and position.secret = asked.code
     union all
    select case when base.secret = asked.code then 'code' else 'code_with_blanks' end, position.organizer, position.event, position.id,
           position.item, position.variation, position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position as base
      join position
        on position.organizer = base.organizer and position.event = base.event and position.addon_to = base.id
     where place.addon_match
       and base.organizer = place.organizer
       and base.event = place.event
       and lower(left(base.secret, 250)) in (lower(left(asked.code collate "C", 250)),
                                             lower(left(asked.code_with_blanks collate "C", 250)))
       and base.secret in (asked.code, asked.code_with_blanks)
     union all
    select 'code_with_blanks' as found_by, position.organizer, position.event, position.id, position.item, position.variation,
           position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position
     where position.organizer = place.organizer
       and position.event = place.event
       and lower(left(position.secret, 250)) = lower(left(asked.code_with_blanks collate "C", 250))
       and position.secret = asked.code_with_blanks
     union all
    select 'code', position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position
     where position.organizer = place.organizer
       and position.event = place.event
       and position.id = asked.ticket_id
     union all
    select asked.linked_by, position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position
     where asked.linked_by is not null
       and position.organizer = place.organizer
       and position.event = place.event
       and position.id = any(asked.linked::bigint[])
     union all
    select asked.linked_by, position.organizer, position.event, position.id, position.item, position.variation, position.subevent,
           position.addon_to, position.attendee_name, position.secret, position.state
      from position
     where asked.linked_by is not null
       and place.addon_match
       and position.organizer = place.organizer
       and position.event = place.event
       and position.addon_to = any(asked.linked::bigint[])
  ) as ticket on true
  left join subevent
    on subevent.organizer = ticket.organizer and subevent.event = ticket.event and subevent.id = ticket.subevent
  left join position as parent
    on parent.organizer = ticket.organizer and parent.event = ticket.event and parent.id = ticket.addon_to
       and coalesce(ticket.attendee_name, '') = ''
  left join item
    on item.organizer = ticket.organizer and item.event = ticket.event and item.id = ticket.item
  left join lateral (
    select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
           presence.last_type, presence.last_at
      from presence
     where (presence.position, presence.list, presence.event, presence.organizer) >= (ticket.id, place.list, ticket.event, ticket.organizer)
       and (presence.position, presence.list, presence.event, presence.organizer) <= (ticket.id, place.list, ticket.event, ticket.organizer)
     order by presence.position, presence.list, presence.event, presence.organizer
     limit 1) as presence on true
  left join lateral (
    select array_agg(given_answer.revision) as revisions, array_agg(given_answer.state) as states
      from given_answer
     where given_answer.organizer = ticket.organizer
       and given_answer.event = ticket.event
       and given_answer.position = ticket.id
  ) as given on true;
