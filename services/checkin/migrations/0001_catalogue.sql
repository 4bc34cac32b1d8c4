-- Why: a gate decides from checkin's own copy of what boxoffice owns, so that it
-- keeps admitting while boxoffice and the bus are down. Facts keep it current;
-- `revision` is boxoffice's, and an older one never overwrites a newer one.

create table event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  revision bigint not null,
  name jsonb not null,
  timezone text not null,
  locale text not null,
  has_subevents boolean not null,
  date_from_at timestamptz,
  date_to_at timestamptz,
  date_admission_at timestamptz,
  -- Which tickets may be downloaded.
  pdf_enabled boolean not null,
  pdf_for_addons boolean not null,
  pdf_for_non_admission boolean not null,
  pdf_while_pending boolean not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event)
);

-- An event that was deleted. What check-in owns of it is deleted a day later, unless the event is back by then.
create table gone_event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  gone_at timestamptz not null,
  primary key (organizer, event)
);

-- A date of an event series.
create table subevent (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  name jsonb not null,
  active boolean not null,
  date_from_at timestamptz,
  date_to_at timestamptz,
  date_admission_at timestamptz,
  -- The resource as the API shows it.
  document jsonb not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

create table category (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  position bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

create table item (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  name jsonb not null,
  internal_name text,
  admission boolean not null,
  category bigint,
  position bigint not null,
  checkin_attention boolean not null,
  checkin_text text,
  -- Null: the event's settings decide.
  generate_tickets boolean,
  -- [{ id, value, position, checkinAttention, checkinText }]
  variations jsonb not null,
  -- The resource as the API shows it.
  document jsonb not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);
