-- Why: a voucher is checked against copies of what boxoffice owns, so that one that takes no capacity needs no other
-- service. Facts keep them current; `revision` is boxoffice's, and an older one never overwrites a newer one.

create table event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  revision bigint not null,
  has_subevents boolean not null,
  -- The resource as the API shows it.
  document jsonb not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event)
);

-- A date of an event series.
create table subevent (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

create table category (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  is_addon boolean not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

create table item (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  category bigint,
  variations bigint[] not null,
  -- The resource as the API shows it.
  document jsonb not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

create table quota (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  items bigint[] not null,
  variations bigint[] not null,
  subevent bigint,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);
