-- Why: what everything else refers to lives here, and records fill it.
--
-- A record is kept as the validated document, in the shape of the REST API.
-- Columns beside it exist where a lookup, a constraint or the quota ledger
-- needs them. References inside documents are checked when a record is
-- applied, under the lock of its event; foreign keys only say where a row
-- lives. Slugs compare by their bytes.

-- One for every table: with each change a row takes the next number, so of two
-- facts about one entity the newer one has the larger revision, also when the
-- entity was removed in between. Never cached, or sessions would hand numbers
-- out of order.
create sequence revision_seq;

-- Ids of our own. An import raises them above what it brings along.
create sequence gate_id_seq;
create sequence device_id_seq;
create sequence subevent_id_seq;
create sequence tax_rule_id_seq;
create sequence category_id_seq;
create sequence item_id_seq;
create sequence variation_id_seq;
create sequence quota_id_seq;
create sequence position_id_seq;

create table organizer (
  slug text collate "C" primary key,
  data jsonb not null,
  revision bigint not null
);

-- `web` exists for every organizer, with or without a row.
create table sales_channel (
  organizer text collate "C" not null references organizer,
  identifier text collate "C" not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, identifier)
);

create table gate (
  organizer text collate "C" not null references organizer,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, id)
);

-- API keys and devices. The clear token is nowhere.
create table credential (
  organizer text collate "C" not null references organizer,
  kind text not null check (kind in ('api_key', 'device')),
  -- The hash in hex of an API key, the device_id of a device.
  id text collate "C" not null,
  -- SHA-256. Null: nothing authenticates as it.
  token_hash bytea unique,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, kind, id)
);

create table event (
  organizer text collate "C" not null references organizer,
  slug text collate "C" not null,
  data jsonb not null,
  -- Empty: all at their defaults.
  settings jsonb not null,
  revision bigint not null,
  -- It exists for no request any more, and is deleted behind everything in it.
  is_removed boolean not null default false,
  primary key (organizer, slug)
);

create table subevent (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

create table tax_rule (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

create table category (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

-- Variations, add-on definitions and bundles are part of the document.
create table item (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

create table quota (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

create table "order" (
  organizer text collate "C" not null,
  event text collate "C" not null,
  code text collate "C" not null,
  status text not null check (status in ('n', 'p', 'e', 'c')),
  -- With its positions, as they were sent, except for their scans, which are in
  -- `position`. What is null is left out: a field that is missing is null.
  data jsonb not null,
  revision bigint not null,
  primary key (organizer, event, code),
  foreign key (organizer, event) references event
);
comment on column "order".data is 'personal data: email, phone, customer, invoice_address; of positions attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, country, state, answers';

-- Documents of two to eight kilobytes stay in the row as they are: compressing
-- them would cost more than all the rest of an import.
alter table "order" set (toast_tuple_target = 8160);

create table position (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  order_code text collate "C" not null,
  positionid bigint not null,
  item bigint not null,
  variation bigint,
  subevent bigint,
  addon_to bigint,
  secret text collate "C" not null,
  canceled boolean not null,
  -- ticketing.boxoffice.v1.Position, as published: what differs from it is news.
  state bytea not null,
  -- ticketing.boxoffice.v1.PositionChanged with only `earlier_checkins`.
  earlier_checkins bytea,
  revision bigint not null,
  -- Which one it has, also where it takes it no more: canceled, or of an
  -- order that is canceled or expired.
  seat bigint,
  -- Null: takes nothing.
  taken_as text check (taken_as in ('paid', 'pending')),
  -- Answers given at the gate are taken up to this revision of theirs; it never
  -- goes down.
  answers_revision bigint,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);
create index position_by_seat on position (organizer, event, seat) where seat is not null;
-- An import asks which of its positions have any; mostly none has.
create index position_with_gate_answers on position (organizer, event, id) where answers_revision is not null;
-- A ticket that was sold seconds ago is asked for by its secret. Slugs hold no slash. A hash, because secrets are
-- long; of all three, so that equal secrets of other events are not read.
create index position_by_secret on position using hash ((organizer || '/' || event || '/' || secret));
comment on column position.state is 'personal data: attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, country, state, answers, order.email, order.invoice_name';
