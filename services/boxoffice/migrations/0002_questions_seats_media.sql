-- Why: what orders answer and where their tickets sit, what stands for a ticket
-- besides its secret, and which secrets admit no one any more.
--
-- Columns made of a document exist where a lookup or a constraint needs them.

create sequence question_id_seq;
create sequence question_option_id_seq;
create sequence seat_id_seq;
create sequence revoked_secret_id_seq;
create sequence blocked_secret_id_seq;
create sequence reusable_medium_id_seq;

-- Options are part of the document.
create table question (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

create table seat (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  guid text collate "C" generated always as (data ->> 'seat_guid') stored not null,
  -- Every date of a series has seats of its own.
  subevent bigint generated always as ((data ->> 'subevent')::bigint) stored,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);
create unique index seat_by_guid on seat (organizer, event, guid, coalesce(subevent, 0));

-- The position of a document may be gone: an order that is sent again without
-- it makes its secret no better.
create table revoked_secret (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

create table blocked_secret (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

-- What a medium is linked to stands in the document as `{"event", "id"}`. Such
-- a position may be gone.
create table reusable_medium (
  organizer text collate "C" not null references organizer,
  id bigint not null,
  data jsonb not null,
  type text collate "C" generated always as (data ->> 'type') stored not null,
  identifier text collate "C" generated always as (data ->> 'identifier') stored not null,
  revision bigint not null,
  primary key (organizer, id)
);
create unique index reusable_medium_by_identifier on reusable_medium (organizer, identifier, type);
comment on column reusable_medium.data is 'personal data: customer, notes, info';
