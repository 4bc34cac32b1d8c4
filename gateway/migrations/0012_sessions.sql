-- Why: people sign in with a browser, by a link that works once or by the platform's provider of identities, and every gateway knows them.

-- From a link to the end of the session that it became.
create table session (
  id uuid primary key,
  organizer text collate "C" not null,
  name text not null,
  permissions text[] not null,
  all_events boolean not null,
  events text[] not null,
  created_at timestamptz not null default now(),
  -- SHA-256 of the token in the link. Null: the session began without one.
  link_hash bytea unique,
  -- From then on the link is refused.
  link_ends_at timestamptz,
  -- How long the session lasts from its beginning.
  seconds integer not null,
  -- SHA-256 of the token in the cookie. Null: the link was not opened.
  token_hash bytea unique,
  began_at timestamptz,
  ends_at timestamptz,
  -- The person signed out.
  left_at timestamptz,
  revoked_at timestamptz
);
create index session_by_organizer on session (organizer, created_at, id);
create index session_by_end on session (coalesce(ends_at, link_ends_at));

comment on column session.name is 'personal data: kept; what the operator or the provider of identities calls who signs in, for some days beyond the session';
-- Statistics contain values as samples, which no erasure reaches.
alter table session alter column name set statistics 0;

-- People who are signed in may upload files, too.
alter table upload
  drop constraint upload_credential_kind_check,
  add constraint upload_credential_kind_check check (credential_kind in ('api_key', 'device', 'person')) not valid;
