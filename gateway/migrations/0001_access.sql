-- Why: a request is authenticated and authorized from here alone, so that it works with every other service down.

-- API keys and devices, as boxoffice last told of them.
create table credential (
  organizer text not null,
  kind text not null check (kind in ('api_key', 'device')),
  id text not null,
  revision bigint not null,
  -- SHA-256 of the token. Null: a device that was never initialised, nothing authenticates as it.
  token_hash bytea,
  name text not null,
  permissions text[] not null,
  all_events boolean not null,
  events text[] not null,
  active boolean not null,
  -- Devices only: deviceId, gate, securityProfile, softwareBrand.
  device jsonb,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, kind, id),
  -- Checked at commit: one batch of facts may take a token from one credential and give it to another.
  unique (token_hash) deferrable initially deferred
);

create table event (
  organizer text not null,
  event text not null,
  revision bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event)
);
