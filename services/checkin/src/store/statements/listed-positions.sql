-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readRuled
select coalesce(string_agg(ticket.id::text, ','), '') as ids, coalesce(string_agg(ticket.item::text, ','), '') as items,
       coalesce(string_agg(coalesce(ticket.variation, 0)::text, ','), '') as variations,
       coalesce(string_agg(coalesce(ticket.subevent, 0)::text, ','), '') as subevents
  from unnest($1::bigint[]) as asked (id)
 cross join lateral (
   select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
          position.item, position.variation, position.subevent, position.addon_to, position.secret,
          position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
          position.counted_as, position.attendee_name, position.sort_name, position.order_email,
          position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
     from position
    where (position.organizer, position.event, position.id) >= ($2, $3, asked.id)
      and (position.organizer, position.event, position.id) <= ($4, $5, asked.id) order by position.organizer, position.event, position.id
    limit 1) as ticket;

-- readAddons
select ticket.state, parent.state as parent_state,
       item.admission, item.generate_tickets, item.checkin_attention, item.checkin_text,
       case when ticket.variation is not null then (
         select element
           from jsonb_array_elements(item.variations) as element
          where (element ->> 'id')::bigint = ticket.variation
          limit 1) end as variation,
       presence.version, presence.entries, presence.last_type, presence.last_at, false as is_ruled,
       case when presence.version is not null then (
         select json_agg(case when scan.place <= $1
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
                            >= (presence.position, $2, presence.event, presence.organizer, true)
                        and (scan.position, scan.list, scan.event, scan.organizer, scan.successful)
                            <= (presence.position, $3, presence.event, presence.organizer, true)
                      order by scan.position desc, scan.list desc, scan.event desc, scan.organizer desc, scan.successful desc,
                               scan.at desc, scan.id desc
                      limit case when false then $4::bigint else $5::bigint end) as newest) as scan
       ) end as history,
       given.revisions as given_revisions, given.states as given_states
  from unnest(array(
    select addon.id
      from position as addon
     where addon.organizer = $6 and addon.event = $7
       and addon.addon_to = any($8::bigint[]) and not addon.canceled
     order by addon.positionid, addon.id)) with ordinality as paged (id, place)
 cross join lateral (
   select position.organizer, position.event, position.id, position.revision, position.positionid, position.order_code,
          position.item, position.variation, position.subevent, position.addon_to, position.secret,
          position.order_status, position.canceled, position.blocked, position.valid_from_at, position.valid_until_at,
          position.counted_as, position.attendee_name, position.sort_name, position.order_email,
          position.order_placed_at, position.voucher, position.pseudonymization_id, position.state
     from position
    where (position.organizer, position.event, position.id) >= ($9, $10, paged.id)
      and (position.organizer, position.event, position.id) <= ($11, $12, paged.id) order by position.organizer, position.event, position.id
    limit 1) as ticket
  left join position as parent
    on parent.organizer = ticket.organizer and parent.event = ticket.event and parent.id = ticket.addon_to
       and coalesce(ticket.attendee_name, '') = ''
  left join item
    on item.organizer = ticket.organizer and item.event = ticket.event and item.id = ticket.item
  left join lateral (
    select presence.organizer, presence.event, presence.position, presence.list, presence.version, presence.entries,
           presence.last_type, presence.last_at
      from presence
     where (presence.position, presence.list, presence.event, presence.organizer) >= (ticket.id, $13, ticket.event, ticket.organizer)
       and (presence.position, presence.list, presence.event, presence.organizer) <= (ticket.id, $14, ticket.event, ticket.organizer)
     order by presence.position, presence.list, presence.event, presence.organizer
     limit 1) as presence on true
  left join lateral (
    select array_agg(given_answer.revision) as revisions, array_agg(given_answer.state) as states
      from given_answer
     where given_answer.organizer = ticket.organizer
       and given_answer.event = ticket.event
       and given_answer.position = ticket.id
  ) as given on true
 order by paged.place;
