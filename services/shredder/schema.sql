create table announced_erasure (
  organizer text collate "C" not null,
  event text collate "C" not null,
  ended_at timestamptz not null,
  announced_at timestamptz not null,
  due_at timestamptz not null,
  problem text,
  next_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0,
  export uuid,
  shred_case uuid,
  constraint announced_erasure_pkey primary key (organizer, event),
  constraint announced_erasure_check check (((shred_case is null) or (export is not null)))
);
create index announced_erasure_begun on announced_erasure using btree (organizer, event) where (export is not null);
create index announced_erasure_by_organizer on announced_erasure using btree (organizer, due_at, event);
create index announced_erasure_to_start on announced_erasure using btree (due_at) where (export is null);

create table answered_request (
  request_id uuid not null,
  rpc text not null,
  response bytea,
  answered_at timestamptz not null default now(),
  organizer text collate "C",
  event text collate "C",
  constraint answered_request_pkey primary key (request_id, rpc)
);
create index answered_request_by_time on answered_request using btree (answered_at);
comment on column answered_request.response is 'personal data: kept; whatever the answer showed, for some days, or until it is erased with its event';

create table dead_letter (
  id bigint not null generated always as identity,
  consumer text not null,
  topic text not null,
  key text not null,
  fact_id uuid not null,
  fact_at timestamptz not null,
  payload bytea,
  cause text not null,
  parked_at timestamptz not null default now(),
  partition integer not null default 0,
  headers jsonb not null default '{}'::jsonb,
  overtaken boolean not null default false,
  replay_requested_at timestamptz,
  tries integer not null default 0,
  tried_at timestamptz,
  is_emptied boolean not null default false,
  constraint dead_letter_pkey primary key (id),
  constraint dead_letter_consumer_fact_id_key unique (consumer, fact_id)
);
create index dead_letter_by_key on dead_letter using hash (key) where (not overtaken);
create index dead_letter_to_replay on dead_letter using btree (id) where (replay_requested_at is not null);
comment on column dead_letter.payload is 'personal data: kept; what its topic declares, until the fact is replayed, forgotten or erased with its event';

create table erased_part (
  organizer text collate "C" not null,
  event text collate "C" not null,
  case_id uuid not null,
  kind text not null,
  holding text not null,
  amount bigint not null,
  constraint erased_part_pkey primary key (organizer, event, case_id, kind, holding)
);

create table erasure (
  organizer text collate "C" not null,
  event text collate "C" not null,
  case_id uuid not null,
  kinds text[] not null,
  requested_at timestamptz not null default clock_timestamp(),
  done_at timestamptz,
  rounds integer not null default 0,
  is_taken_on boolean not null default false,
  is_taken_back boolean not null default false,
  constraint erasure_pkey primary key (organizer, event, case_id)
);

create table export (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  file uuid not null,
  credential text collate "C" not null,
  kinds text[] not null,
  instance text not null,
  started_at timestamptz not null default clock_timestamp(),
  versions jsonb,
  file_key text collate "C",
  sha256 text collate "C",
  made_at timestamptz,
  constraint export_pkey primary key (organizer, event, id)
);
create unique index export_by_file on export using btree (file_key) where (file_key is not null);
create index export_by_time on export using btree (started_at);

create table file_to_remove (
  key text collate "C" not null,
  constraint file_to_remove_pkey primary key (key)
);

create table inbox (
  fact_on date not null,
  consumer text not null,
  fact_id uuid not null,
  constraint inbox_pkey primary key (fact_on, consumer, fact_id)
) partition by range (fact_on);

create table inbox_other partition of inbox default;

create table migration (
  scope text not null,
  revision integer not null,
  name text not null,
  checksum text not null,
  breaking boolean not null,
  applied_at timestamptz not null default now(),
  constraint migration_pkey primary key (scope, revision)
);

create table outbox (
  id bigint not null generated always as identity,
  fact_id uuid not null default gen_random_uuid(),
  topic text not null,
  key text not null,
  partition integer,
  payload bytea,
  marker uuid,
  traceparent text,
  created_at timestamptz not null default now(),
  headers jsonb,
  constraint outbox_pkey primary key (topic, id)
);
comment on column outbox.payload is 'personal data: kept; what its topic declares, until it is published';

create table passed_marker (
  consumer text not null,
  marker uuid not null,
  topic text not null,
  partition integer not null,
  passed_at timestamptz not null default now(),
  is_of_rebuild boolean not null default true,
  constraint passed_marker_pkey primary key (consumer, marker, topic, partition)
);
create index passed_marker_by_time on passed_marker using btree (is_of_rebuild, passed_at);

create table rebuild (
  id uuid not null default gen_random_uuid(),
  topic text not null,
  requested_at timestamptz not null default now(),
  line bigint,
  begun_at timestamptz,
  place text,
  expected bigint,
  written bigint not null default 0,
  partitions integer,
  finished_at timestamptz,
  cause text,
  constraint rebuild_pkey primary key (id)
);

create table retention (
  organizer text collate "C" not null,
  days integer not null,
  kinds text[] not null,
  instance text not null,
  changed_at timestamptz not null default clock_timestamp(),
  round_after text collate "C" not null default ''::text,
  round_at timestamptz not null default clock_timestamp(),
  organizer_created_at timestamptz,
  constraint retention_pkey primary key (organizer),
  constraint retention_days_check check ((days >= 0)),
  constraint retention_kinds_check check ((cardinality(kinds) > 0)),
  constraint retention_of_organizer check ((organizer_created_at is not null)) not valid
);
create index retention_by_round on retention using btree (round_at);

create table shred_case (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  file uuid not null,
  export uuid not null,
  credential text collate "C" not null,
  kinds text[] not null,
  instance text not null,
  export_sha256 text collate "C" not null,
  exported_at timestamptz not null,
  started_at timestamptz not null default clock_timestamp(),
  requested_at timestamptz,
  erased_at timestamptz,
  failed_at timestamptz,
  event_gone_at timestamptz,
  parts jsonb,
  repeated_at timestamptz,
  problem text,
  export_made_at timestamptz,
  requested_by text collate "C",
  constraint shred_case_pkey primary key (organizer, event, id)
);
create unique index shred_case_of_export on shred_case using btree (organizer, event, export) where (failed_at is null);
create index shred_case_of_retention on shred_case using btree (organizer, erased_at desc, id) where ((credential = 'retention'::text) and (erased_at is not null) and (event_gone_at is null));

create table signing_key (
  is_only boolean not null default true,
  private_key text not null,
  constraint signing_key_pkey primary key (is_only),
  constraint signing_key_is_only_check check (is_only)
);
comment on column signing_key.private_key is 'secret: signs certificates';

create table work (
  kind text not null,
  id text collate "C" not null,
  owner text not null,
  state text not null default 'waiting'::text,
  turn bigint,
  due_at timestamptz,
  token integer not null default 0,
  tries integer not null default 0,
  most_tries integer not null,
  keep interval not null,
  payload bytea,
  done bigint,
  total bigint,
  result bytea,
  cause text,
  is_public boolean not null default false,
  traceparent text,
  enqueued_at timestamptz not null default now(),
  bytes bigint not null default 0,
  constraint work_pkey primary key (kind, id),
  constraint work_state check (((state = any (array['waiting'::text, 'running'::text, 'succeeded'::text, 'failed'::text, 'expired'::text])) and ((turn is not null) = ((state = 'waiting'::text) and (due_at is null))) and ((payload is not null) = (state = any (array['waiting'::text, 'running'::text]))) and ((result is not null) = (state = 'succeeded'::text))))
);
create index work_bytes_of_owner on work using btree (kind, owner) include (bytes) where ((bytes > 0) and (state = any (array['waiting'::text, 'running'::text, 'succeeded'::text])));
create index work_due on work using btree (state, due_at) where (due_at is not null);
create index work_in_line on work using btree (kind, turn, enqueued_at) where (turn is not null);
create index work_of_owner on work using btree (kind, owner, turn) where (state = 'waiting'::text);
comment on column work.payload is 'personal data: kept; whatever the kind of work needs, until it has ended';
comment on column work.result is 'personal data: kept; whatever the kind of work makes, until it expires';

alter table announced_erasure add constraint announced_erasure_organizer_fkey foreign key (organizer) references retention(organizer) on delete cascade;
alter table erased_part add constraint erased_part_organizer_event_case_id_fkey foreign key (organizer, event, case_id) references erasure(organizer, event, case_id) on delete cascade;
