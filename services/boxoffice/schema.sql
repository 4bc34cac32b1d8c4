create sequence made_medium_id_seq as bigint minvalue 1000000000001;
create sequence print_id_seq as bigint;
create sequence revision_seq as bigint;
create sequence seat_id_seq as bigint;
create sequence sold_position_id_seq as bigint minvalue 1000000000001;

create table answer_file (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  question bigint not null,
  file_key text collate "C" not null,
  name text not null,
  content_type text not null,
  size bigint not null,
  sha256 bytea not null,
  constraint answer_file_pkey primary key (organizer, event, "position", question),
  constraint answer_file_file_key_key unique (file_key)
);
comment on table answer_file is 'personal data: question_answers; the files themselves, for instance photographs of people';
comment on column answer_file.name is 'personal data: question_answers';

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

create table blocked_secret (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint blocked_secret_pkey primary key (organizer, event, id)
);

create table capacity_hold (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  is_released boolean not null default false,
  answer bytea,
  changed_at timestamptz not null default clock_timestamp(),
  constraint capacity_hold_pkey primary key (organizer, event, id)
);
create index capacity_hold_by_age on capacity_hold using btree (changed_at);

create table category (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint category_pkey primary key (organizer, event, id)
);

create table credential (
  organizer text collate "C" not null,
  kind text not null,
  id text collate "C" not null,
  token_hash bytea,
  data jsonb not null,
  revision bigint not null,
  setup_hash bytea,
  setup_until_at timestamptz,
  machine jsonb,
  made_here boolean not null default false,
  constraint credential_pkey primary key (organizer, kind, id),
  constraint credential_token_hash_key unique (token_hash),
  constraint credential_kind_check check ((kind = any (array['api_key'::text, 'device'::text])))
);
create unique index credential_by_setup on credential using btree (setup_hash);

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

create table document_change (
  organizer text collate "C" not null,
  event text collate "C" not null,
  kind text collate "C" not null,
  changed_at timestamptz not null,
  changed_in xid8 not null,
  constraint document_change_pkey primary key (organizer, event, kind)
);

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

create table event (
  organizer text collate "C" not null,
  slug text collate "C" not null,
  data jsonb not null,
  settings jsonb not null,
  revision bigint not null,
  is_removed boolean not null default false,
  changed_at timestamptz not null default clock_timestamp(),
  constraint event_pkey primary key (organizer, slug)
);

create table exchanged_ticket (
  organizer text collate "C" not null,
  medium bigint not null,
  event text collate "C" not null,
  "position" bigint not null,
  constraint exchanged_ticket_pkey primary key (organizer, medium, event, "position")
);
create index exchanged_ticket_by_position on exchanged_ticket using btree (organizer, event, "position");

create table former_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  "position" bigint not null,
  since_at timestamptz not null,
  until_at timestamptz not null,
  counts boolean not null,
  constraint former_use_pkey primary key (organizer, event, voucher, "position", until_at)
);
create index former_use_by_position on former_use using btree (organizer, event, "position", until_at);

create table gate (
  organizer text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint gate_pkey primary key (organizer, id)
);

create table gate_answer (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  question bigint not null,
  answer bytea,
  awaited bytea,
  awaited_revision bigint,
  revision bigint,
  file jsonb,
  constraint gate_answer_pkey primary key (organizer, event, "position", question),
  constraint gate_answer_state check ((((revision is not null) or (awaited_revision is not null)) and ((answer is null) or (revision is not null)) and ((file is null) or (answer is not null)) and ((awaited is null) = (awaited_revision is null))))
);
create unique index gate_answer_file on gate_answer using btree (((file ->> 'fileKey'::text))) where (file is not null);
comment on table gate_answer is 'personal data: question_answers; the files themselves, for instance photographs of people';
comment on column gate_answer.answer is 'personal data: question_answers; answer';
comment on column gate_answer.awaited is 'personal data: question_answers; answer, file';
comment on column gate_answer.file is 'personal data: question_answers; name';

create table held_claim (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  hold uuid not null,
  item bigint,
  variation bigint,
  quota bigint,
  subevent bigint,
  usages bigint not null,
  valid_until_at timestamptz,
  seat text collate "C",
  based_on bigint not null default 0,
  constraint held_claim_pkey primary key (organizer, event, voucher, hold)
);
create index held_claim_by_hold on held_claim using btree (hold);
create index held_claim_by_seat on held_claim using btree (organizer, event, seat, coalesce(subevent, (0)::bigint)) where (seat is not null);

create table inbox (
  fact_on date not null,
  consumer text not null,
  fact_id uuid not null,
  constraint inbox_pkey primary key (fact_on, consumer, fact_id)
) partition by range (fact_on);

create table inbox_other partition of inbox default;

create table item (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint item_pkey primary key (organizer, event, id)
);

create table lost_position (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  placed_at timestamptz not null,
  constraint lost_position_pkey primary key (organizer, event, id)
);

create table migration (
  scope text not null,
  revision integer not null,
  name text not null,
  checksum text not null,
  breaking boolean not null,
  applied_at timestamptz not null default now(),
  constraint migration_pkey primary key (scope, revision)
);

create table "order" (
  organizer text collate "C" not null,
  event text collate "C" not null,
  code text collate "C" not null,
  status text not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint order_pkey primary key (organizer, event, code),
  constraint order_status_check check ((status = any (array['n'::text, 'p'::text, 'e'::text, 'c'::text])))
) with (toast_tuple_target=8160);
create index order_by_change on "order" using btree (organizer, event, changed_at, code);
create index order_by_code on "order" using btree (organizer, code);
create index order_by_placing on "order" using btree (organizer, event, rtrim((data ->> 'datetime'::text), 'Z'::text) collate "C", code);
create index order_for_test on "order" using btree (organizer, event, revision) where ((data -> 'testmode'::text))::boolean;
comment on column "order".data is 'personal data: attendee_info, order_emails, phone_numbers, invoice_addresses, question_answers, kept; email, phone, customer, invoice_address; of positions attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, answers; kept are what the organizer noted and no export has (comment, checkin_text, api_meta, description of fees), and country and state of positions';

create table organizer (
  slug text collate "C" not null,
  data jsonb not null,
  revision bigint not null,
  created_at timestamptz not null default clock_timestamp(),
  last_device bigint not null default 0,
  constraint organizer_pkey primary key (slug)
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

create table "position" (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  order_code text collate "C" not null,
  positionid bigint not null,
  item bigint not null,
  variation bigint,
  subevent bigint,
  secret text collate "C" not null,
  canceled boolean not null,
  state bytea not null,
  earlier_checkins bytea,
  revision bigint not null,
  seat bigint,
  taken_as text,
  answers_revision bigint,
  voucher bigint,
  budget_use numeric,
  left_out boolean not null default false,
  made_at timestamptz default clock_timestamp(),
  voucher_since_at timestamptz,
  voucher_overtaken_at timestamptz,
  constraint position_pkey primary key (organizer, event, id),
  constraint position_taken_as_check check ((taken_as = any (array['paid'::text, 'pending'::text])))
);
create index position_by_date on "position" using btree (organizer, event, subevent, order_code) where ((subevent is not null) and (not canceled));
create index position_by_seat on "position" using btree (organizer, event, seat) where (seat is not null);
create index position_by_secret on "position" using hash ((((((organizer || '/'::text) || event) || '/'::text) || secret)));
create index position_by_voucher on "position" using btree (organizer, event, voucher) where (voucher is not null);
create index position_with_gate_answers on "position" using btree (organizer, event, id) where (answers_revision is not null);
create index position_with_voucher on "position" using btree (organizer, event, id) include (voucher, taken_as, budget_use) where (voucher is not null);
comment on column "position".state is 'personal data: attendee_info, order_emails, invoice_addresses, question_answers, kept; attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, answers, order.email, order.invoice_name; kept are country and state, and order.checkin_text, which the organizer noted';

create table print (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  id bigint not null default nextval('print_id_seq'::regclass),
  successful boolean not null,
  printed_at timestamptz not null,
  source text not null,
  type text not null,
  device_id bigint,
  info jsonb not null,
  constraint print_pkey primary key (organizer, event, "position", id),
  constraint print_type_check check ((type = any (array['badge'::text, 'ticket'::text, 'certificate'::text, 'other'::text])))
);
comment on column print.info is 'personal data: kept; what a device says of its printer';

create table question (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint question_pkey primary key (organizer, event, id)
);

create table quota (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint quota_pkey primary key (organizer, event, id)
);

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

create table reusable_medium (
  organizer text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  type text collate "C" not null generated always as ((data ->> 'type'::text)) stored,
  identifier text collate "C" not null generated always as ((data ->> 'identifier'::text)) stored,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint reusable_medium_pkey primary key (organizer, id)
);
create unique index reusable_medium_by_identifier on reusable_medium using btree (organizer, identifier, type);
create index reusable_medium_by_position on reusable_medium using gin (((data -> 'linked_orderpositions'::text)) jsonb_path_ops) with (fastupdate=off);
comment on column reusable_medium.data is 'personal data: kept; customer, notes, info: media belong to no event';

create table revoked_secret (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint revoked_secret_pkey primary key (organizer, event, id)
);

create table sale (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  request_hash bytea not null,
  answer bytea not null,
  canceled_at timestamptz,
  constraint sale_pkey primary key (organizer, event, id)
);
comment on column sale.answer is 'personal data: kept; codes and secrets of tickets that were sold without names';

create table sales_channel (
  organizer text collate "C" not null,
  identifier text collate "C" not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint sales_channel_pkey primary key (organizer, identifier)
);

create table seat (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  guid text collate "C" not null generated always as ((data ->> 'seat_guid'::text)) stored,
  subevent bigint generated always as (((data ->> 'subevent'::text))::bigint) stored,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint seat_pkey primary key (organizer, event, id)
);
create unique index seat_by_guid on seat using btree (organizer, event, guid, coalesce(subevent, (0)::bigint));

create table sold_ticket (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  order_code text collate "C" not null,
  secret text collate "C" not null,
  pseudonymization_id text collate "C" not null,
  constraint sold_ticket_pkey primary key (organizer, event, "position")
);
create unique index sold_ticket_by_code on sold_ticket using btree (organizer, order_code);
create unique index sold_ticket_by_pseudonym on sold_ticket using btree (pseudonymization_id);
create unique index sold_ticket_by_secret on sold_ticket using btree (organizer, secret);

create table subevent (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint subevent_pkey primary key (organizer, event, id)
);

create table taken_capacity (
  organizer text collate "C" not null,
  event text collate "C" not null,
  subevent bigint,
  item bigint not null,
  variation bigint,
  taken_as text not null,
  positions bigint not null,
  constraint taken_capacity_key unique nulls not distinct (organizer, event, subevent, item, variation, taken_as),
  constraint taken_capacity_taken_as_check check ((taken_as = any (array['paid'::text, 'pending'::text])))
);

create table tax_rule (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  data jsonb not null,
  revision bigint not null,
  changed_at timestamptz not null default clock_timestamp(),
  constraint tax_rule_pkey primary key (organizer, event, id)
);

create table voucher_claim (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  item bigint,
  variation bigint,
  quota bigint,
  subevent bigint,
  max_usages bigint,
  blocks boolean not null default false,
  recorded_uses bigint not null default 0,
  counted_as_of_at timestamptz,
  uses bigint not null default 0,
  valid_until_at timestamptz,
  seat text collate "C",
  revision bigint not null,
  known_columns integer not null default 0,
  constraint voucher_claim_pkey primary key (organizer, event, id)
);
create index voucher_claim_by_seat on voucher_claim using btree (organizer, event, seat, coalesce(subevent, (0)::bigint)) where ((seat is not null) and (max_usages > greatest((recorded_uses + uses), (0)::bigint)));
create index voucher_claim_taking on voucher_claim using btree (organizer, event, subevent, quota, item, variation) include (max_usages, recorded_uses, uses, valid_until_at) where (blocks and (max_usages > greatest((recorded_uses + uses), (0)::bigint)));

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

alter table answer_file add constraint answer_file_organizer_event_position_fkey foreign key (organizer, event, "position") references "position"(organizer, event, id) on delete cascade;
alter table blocked_secret add constraint blocked_secret_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table category add constraint category_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table credential add constraint credential_organizer_fkey foreign key (organizer) references organizer(slug);
alter table erased_part add constraint erased_part_organizer_event_case_id_fkey foreign key (organizer, event, case_id) references erasure(organizer, event, case_id) on delete cascade;
alter table event add constraint event_organizer_fkey foreign key (organizer) references organizer(slug);
alter table exchanged_ticket add constraint exchanged_ticket_organizer_event_position_fkey foreign key (organizer, event, "position") references "position"(organizer, event, id) on delete cascade;
alter table gate add constraint gate_organizer_fkey foreign key (organizer) references organizer(slug);
alter table gate_answer add constraint gate_answer_organizer_event_position_fkey foreign key (organizer, event, "position") references "position"(organizer, event, id) on delete cascade;
alter table item add constraint item_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table lost_position add constraint lost_position_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug) on delete cascade;
alter table "order" add constraint order_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table "position" add constraint position_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table print add constraint print_organizer_event_position_fkey foreign key (organizer, event, "position") references "position"(organizer, event, id) on delete cascade;
alter table question add constraint question_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table quota add constraint quota_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table reusable_medium add constraint reusable_medium_organizer_fkey foreign key (organizer) references organizer(slug);
alter table revoked_secret add constraint revoked_secret_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table sale add constraint sale_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table sales_channel add constraint sales_channel_organizer_fkey foreign key (organizer) references organizer(slug);
alter table seat add constraint seat_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table subevent add constraint subevent_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
alter table taken_capacity add constraint taken_capacity_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug) on delete cascade;
alter table tax_rule add constraint tax_rule_organizer_event_fkey foreign key (organizer, event) references event(organizer, slug);
