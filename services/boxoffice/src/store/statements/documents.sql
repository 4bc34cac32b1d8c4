-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countDocuments, events
select count(*) as count from "event" as document
 where document.organizer = $1
   and not document.is_removed
   and document.slug = any($2::text[])
   and document.changed_at >= $3::timestamptz
   and (document.data -> 'live')::boolean = $4
   and position(lower($5) in lower(translate(concat_ws(' ', document.slug, document.data ->> 'name'), $6, $7))) > 0
   and (coalesce(document.data ->> 'date_to', document.data ->> 'date_from')::timestamptz >= $8::timestamptz
        or exists (select from subevent
                    where subevent.organizer = document.organizer
                      and subevent.event = document.slug
                      and coalesce(subevent.data ->> 'date_to', subevent.data ->> 'date_from')::timestamptz >= $9::timestamptz));

-- countDocuments, quotas
select count(*) as count from "quota" as document
  join event as place on place.organizer = document.organizer and place.slug = document.event
 where document.organizer = $1
   and not place.is_removed
   and place.slug = $2
   and (document.data ->> 'subevent')::bigint = $3
   and exists (select from jsonb_array_elements(document.data -> 'items') as counted (item)
                where counted.item::bigint = any($4::bigint[]));

-- countDocuments, dates
select count(*) as count from "subevent" as document
  join event as place on place.organizer = document.organizer and place.slug = document.event
 where document.organizer = $1
   and not place.is_removed
   and place.slug = $2
   and place.slug = any($3::text[])
   and document.changed_at >= $4::timestamptz
   and (document.data -> 'active')::boolean = $5
   and (place.data -> 'live')::boolean = $6
   and position(lower($7) in lower(translate(document.data ->> 'name', $8, $9))) > 0
   and coalesce(document.data ->> 'date_to', document.data ->> 'date_from')::timestamptz >= $10::timestamptz;

-- countDocuments, media
select count(*) as count from "reusable_medium" as document
 where document.organizer = $1
   and exists (select from jsonb_array_elements(document.data -> 'linked_orderpositions') as linked (ticket)
                where linked.ticket ->> 'event' = any($2::text[]))
   and document.changed_at >= $3::timestamptz
   and document.data ->> 'type' = $4
   and document.data ->> 'identifier' = $5
   and position(lower($6) in lower(translate(document.data ->> 'name', $7, $8))) > 0;

-- lacksOne
select count(*) as count from "item" as document
  join event as place on place.organizer = document.organizer and place.slug = document.event
 where document.organizer = $1
   and not place.is_removed
   and place.slug = $2
   and document.id = any($3::bigint[]);

-- pageDocuments, events
select document.slug as event, (document.data - 'unread' || jsonb_build_object('timezone',
                                                                               coalesce(document.data ->> 'timezone',
                                                                                        document.settings ->> 'timezone',
                                                                                        'UTC')))::text as json
  from "event" as document
 where document.organizer = $1
   and not document.is_removed
   and document.slug = $2
 order by (document.data ->> 'date_from')::timestamptz, document.slug
 limit $3
offset $4;

-- pageDocuments, in an order
select '' as event, (document.data - 'unread')::text as json
  from "gate" as document
 where document.organizer = $1
 order by document.data ->> 'name' desc nulls last, document.id
 limit $2
offset $3;

-- findDocument
select document.event as event, (document.data - 'unread')::text as json
  from "item" as document
  join event as place on place.organizer = document.organizer and place.slug = document.event
 where document.organizer = $1
   and not place.is_removed
   and place.slug = $2
   and document.id = $3;
