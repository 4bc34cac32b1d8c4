-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- storeCredentials
update credential
   set token_hash = null
  from unnest($1::text[],
              $2::text[],
              $3::text[],
              $4::bytea[],
              $5::bigint[]) as state (organizer, kind, id, token_hash, revision)
 where credential.token_hash = state.token_hash
   and credential.revision < state.revision
   and (credential.organizer, credential.kind, credential.id) <> (state.organizer, state.kind, state.id);

-- storeCredentials
select credential.token_hash, credential.revision
  from credential
  join unnest($1::text[],
              $2::text[],
              $3::text[],
              $4::bytea[],
              $5::bigint[]) as state (organizer, kind, id, token_hash, revision) on credential.token_hash = state.token_hash
       and credential.revision > state.revision;
