-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- upsert
insert into credential as kept (organizer, kind, id, token_hash, data, revision)
select $1, $2, incoming.id, incoming.token_hash, incoming.data, nextval('revision_seq')
  from rows from (unnest($3::text[]),
                  unnest($4::bytea[]),
                  jsonb_array_elements($5::jsonb)) as incoming (id, token_hash, data)
 order by incoming.id
    on conflict (organizer, kind, id) do update
   set token_hash = case when excluded.token_hash is null and kept.machine is not null then kept.token_hash else excluded.token_hash end,
       data = case when kept.machine is null then excluded.data
              else excluded.data || jsonb_build_object('software_brand', kept.machine -> 'software_brand')
              end,
       revision = nextval('revision_seq')
 where (kept.token_hash, kept.data) is distinct from (
   case when excluded.token_hash is null and kept.machine is not null then kept.token_hash else excluded.token_hash end,
   case when kept.machine is null then excluded.data
        else excluded.data || jsonb_build_object('software_brand', kept.machine -> 'software_brand')
   end)
returning kept.id, kept.token_hash as "tokenHash", kept.data, kept.revision;

-- touchDevicesAt
update credential
   set revision = nextval('revision_seq')
 where credential.organizer = $1
   and credential.kind = 'device'
   and (credential.data ->> 'gate')::bigint = any($2::bigint[])
returning credential.id, credential.token_hash as "tokenHash", credential.data, credential.revision;

-- findByPrefix
select credential.id, credential.token_hash as "tokenHash", credential.data, credential.revision
  from credential
 where credential.organizer = $1
   and credential.kind = $2
   and starts_with(credential.id, $3) order by credential.id limit 2;

-- page
select credential.id, credential.token_hash as "tokenHash", credential.data, credential.revision
  from credential
 where credential.organizer = $1
   and credential.kind = $2
   and true
 order by (credential.data ->> 'device_id')::bigint, lower(credential.data ->> 'name'), credential.id
 limit $3
offset $4;
