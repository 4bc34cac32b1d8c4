-- Why: what a gate asks and what visitors answer, and what a scanned code may be besides the secret of
-- a ticket: one that was revoked or blocked, or a medium that stands for tickets.

create table question (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  items bigint[] not null,
  position bigint not null,
  ask_during_checkin boolean not null,
  -- The question resource.
  document jsonb not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

-- Every scan looks for them; most events have none.
create index question_asked on question (organizer, event) where ask_during_checkin;

create sequence answer_revision;

-- What a position was asked at a gate. Boxoffice takes it over; what its states
-- have not taken yet is shown from here.
create table given_answer (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  question bigint not null,
  revision bigint not null,
  -- ticketing.checkin.v1.GivenAnswer; without `answer` it was taken back.
  state bytea not null,
  primary key (position, question, event, organizer)
);
comment on column given_answer.state is 'personal data: answer, file';

create table revoked_secret (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  secret text collate "C" not null,
  -- The position that had it; it may be gone.
  position bigint,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);
-- The same expression as over the secrets of positions.
create index revoked_secret_by_secret on revoked_secret (organizer, event, lower(left(secret, 250)));

create table blocked_secret (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  secret text collate "C" not null,
  blocked boolean not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);
create index blocked_secret_by_secret on blocked_secret (organizer, event, lower(left(secret, 250)));

create table reusable_medium (
  organizer text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  type text collate "C" not null,
  identifier text collate "C" not null,
  active boolean not null,
  expires_at timestamptz,
  -- [{ event, id }] of positions; they may be gone.
  linked_positions jsonb not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, id)
);
-- Not unique: of two media that swap identifiers one is heard of first.
create index reusable_medium_by_identifier on reusable_medium (organizer, identifier, type);
