create sequence revision_seq as bigint;
create sequence voucher_id as bigint minvalue 1000000000001;

create or replace function count_vouchers()
 returns trigger
 language plpgsql
 set search_path to 'voucher', 'public'
AS $function$
begin
  insert into voucher_count (organizer, event, vouchers)
  select changed.organizer, changed.event, count(*) * case lower(tg_op) when 'insert' then 1 else -1 end
    from changed
   group by changed.organizer, changed.event;
  return null;
end
$function$;

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

create table asked_hold (
  hold uuid not null,
  organizer text collate "C" not null,
  event text collate "C" not null,
  asked_at timestamptz not null default now(),
  is_released boolean not null default false,
  request_id uuid,
  constraint asked_hold_pkey primary key (hold)
);
create index asked_hold_by_time on asked_hold using btree (asked_at);

create table category (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  is_addon boolean not null,
  known_columns integer not null default 0,
  constraint category_pkey primary key (organizer, event, id)
);

create table current_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  revision bigint not null,
  voucher bigint not null,
  since_at timestamptz not null,
  counts boolean not null,
  budget numeric(15,2) not null,
  constraint current_use_pkey primary key (organizer, event, "position")
);
create index current_use_by_voucher on current_use using btree (organizer, event, voucher);

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

create table ended_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  ended_at timestamptz not null default now(),
  constraint ended_use_pkey primary key (organizer, event, "position")
);
create index ended_use_by_time on ended_use using btree (ended_at);

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
  event text collate "C" not null,
  revision bigint not null,
  has_subevents boolean not null,
  document jsonb not null,
  known_columns integer not null default 0,
  constraint event_pkey primary key (organizer, event)
);

create table former_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  "position" bigint not null,
  since_at timestamptz not null,
  until_at timestamptz not null,
  counts boolean not null,
  budget numeric(15,2) not null,
  constraint former_use_pkey primary key (organizer, event, voucher, "position", until_at)
);
create index former_use_by_position on former_use using btree (organizer, event, "position", until_at);

create table gone_event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  is_deleted boolean not null,
  noted_at timestamptz not null default now(),
  constraint gone_event_pkey primary key (organizer, event)
);

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
  revision bigint not null,
  category bigint,
  variations bigint[] not null,
  document jsonb not null,
  known_columns integer not null default 0,
  constraint item_pkey primary key (organizer, event, id)
);

create table lost_reference (
  organizer text collate "C" not null,
  event text collate "C" not null,
  kind text not null,
  id bigint not null,
  due_at timestamptz not null,
  constraint lost_reference_pkey primary key (organizer, event, kind, id),
  constraint lost_reference_kind_check check ((kind = any (array['item'::text, 'variation'::text, 'quota'::text])))
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

create table quota (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  items bigint[] not null,
  variations bigint[] not null,
  subevent bigint,
  known_columns integer not null default 0,
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

create table reserved_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  reservation uuid not null,
  place integer not null,
  voucher bigint not null,
  budget numeric(15,2) not null,
  expires_at timestamptz not null,
  constraint reserved_use_pkey primary key (organizer, event, reservation, place)
);
create index reserved_use_by_end on reserved_use using btree (expires_at);
create index reserved_use_by_voucher on reserved_use using btree (organizer, event, voucher, expires_at);

create table subevent (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  known_columns integer not null default 0,
  prices jsonb,
  constraint subevent_pkey primary key (organizer, event, id),
  constraint subevent_prices_known check ((prices is not null)) not valid
);

create table use_sum (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  redeemed bigint not null,
  budget_used numeric(15,2) not null,
  constraint use_sum_pkey primary key (organizer, event, voucher)
);

create table voucher (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  code text collate "C" not null,
  max_usages bigint not null,
  min_usages bigint not null,
  valid_until_at timestamptz,
  block_quota boolean not null,
  allow_ignore_quota boolean not null,
  price_mode text not null,
  value numeric(13,2),
  item bigint,
  variation bigint,
  quota bigint,
  seat text,
  tag text collate "C" not null,
  comment text not null,
  subevent bigint,
  show_hidden_items boolean not null,
  all_addons_included boolean not null,
  all_bundles_included boolean not null,
  budget numeric(13,2),
  created_at timestamptz not null,
  redeemed bigint not null,
  budget_used numeric(15,2) not null,
  base_redeemed bigint not null,
  base_budget_used numeric(15,2) not null,
  counted_as_of_at timestamptz,
  constraint voucher_pkey primary key (organizer, event, id),
  constraint voucher_price_mode_check check ((price_mode = any (array['none'::text, 'set'::text, 'subtract'::text, 'percent'::text])))
) with (autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05);
create unique index voucher_by_code on voucher using btree (organizer, event, code);
create index voucher_by_item on voucher using btree (organizer, event, item, id) where (item is not null);
create index voucher_by_max_usages on voucher using btree (organizer, event, max_usages, id);
create index voucher_by_quota on voucher using btree (organizer, event, quota, id) where (quota is not null);
create index voucher_by_seat on voucher using btree (organizer, event, seat) where (seat is not null);
create index voucher_by_state on voucher using btree (organizer, event, price_mode, block_quota, allow_ignore_quota, ((redeemed >= max_usages)), redeemed);
create index voucher_by_subevent on voucher using btree (organizer, event, subevent, id) where (subevent is not null);
create index voucher_by_tag on voucher using btree (organizer, event, tag, id) where (tag <> ''::text);
create index voucher_by_text on voucher using gin ((((((code || '
'::text) || tag) || '
'::text) || comment)) collate "default" gin_trgm_ops) with (gin_pending_list_limit='32768');
create index voucher_by_valid_until on voucher using btree (organizer, event, valid_until_at, id);
create index voucher_by_value on voucher using btree (organizer, event, value, id);
create index voucher_by_variation on voucher using btree (organizer, event, variation, id) where (variation is not null);
create trigger voucher_added after insert on voucher referencing new table as changed for each statement execute function count_vouchers();
create trigger voucher_removed after delete on voucher referencing old table as changed for each statement execute function count_vouchers();
comment on column voucher.comment is 'personal data: waiting_list, kept; with the tag waiting-list, the e-mail address and the name of a guest; otherwise what the organizer noted, which is kept';

create table voucher_count (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null generated always as identity,
  vouchers bigint not null,
  folded boolean not null default false,
  constraint voucher_count_pkey primary key (organizer, event, id)
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
create index voucher_count_fresh on voucher_count using btree (id) where (not folded);

create table voucher_reservation (
  organizer text collate "C" not null,
  event text collate "C" not null,
  reservation uuid not null,
  state text not null,
  request bytea,
  answer bytea,
  positions bigint[] not null default '{}'::bigint[],
  expires_at timestamptz not null,
  constraint voucher_reservation_pkey primary key (organizer, event, reservation),
  constraint voucher_reservation_state_check check ((state = any (array['open'::text, 'confirmed'::text, 'released'::text])))
);
create index voucher_reservation_by_end on voucher_reservation using btree (expires_at);

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

alter table erased_part add constraint erased_part_organizer_event_case_id_fkey foreign key (organizer, event, case_id) references erasure(organizer, event, case_id) on delete cascade;
