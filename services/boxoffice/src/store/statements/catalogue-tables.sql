-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- upsert, of an organizer
insert into "gate" as kept ("organizer", "id", data, revision)
select $1, incoming.key, incoming.data, nextval('revision_seq')
  from rows from (unnest($2::bigint[]),
                  jsonb_array_elements($3::jsonb)) as incoming (key, data)
 order by incoming.key
    on conflict ("organizer", "id") do update
   set data = excluded.data,
       revision = nextval('revision_seq'),
       changed_at = clock_timestamp()
 where kept.data is distinct from excluded.data
returning kept."id"::text as key, kept.revision;

-- upsert, of an event
insert into "item" as kept ("organizer", "event", "id", data, revision)
select $1, $2, incoming.key, incoming.data, nextval('revision_seq')
  from rows from (unnest($3::bigint[]),
                  jsonb_array_elements($4::jsonb)) as incoming (key, data)
 order by incoming.key
    on conflict ("organizer", "event", "id") do update
   set data = excluded.data,
       revision = nextval('revision_seq'),
       changed_at = clock_timestamp()
 where kept.data is distinct from excluded.data
returning kept."id"::text as key, kept.revision;
