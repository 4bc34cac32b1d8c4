create sequence alarm_id as bigint;
create sequence answer_revision as bigint;
create sequence list_id as bigint minvalue 1000000000001;
create sequence scan_id as bigint;

create or replace function count_persons()
 returns trigger
 language plpgsql
 set search_path to 'checkin', 'public'
AS $function$
begin
  if not exists (select from persons_inside) then
    return null;
  end if;
  perform
    from persons_inside
   where (persons_inside.organizer, persons_inside.event, persons_inside.list)
         in (select changed.organizer, changed.event, changed.list from changed)
   order by persons_inside.organizer, persons_inside.event, persons_inside.list
     for no key update;
  if lower(tg_op) = 'update' then
    update persons_inside
       set persons = persons_inside.persons + difference.persons
      from (select changed.organizer, changed.event, changed.list, sum(changed.sign) as persons
              from (select organizer, event, list, 1 as sign from changed where last_type = 'entry'
                     union all
                    select organizer, event, list, -1 from former where last_type = 'entry') as changed
             group by changed.organizer, changed.event, changed.list
            having sum(changed.sign) <> 0) as difference
     where persons_inside.organizer = difference.organizer
       and persons_inside.event = difference.event
       and persons_inside.list = difference.list;
  else
    update persons_inside
       set persons = persons_inside.persons + difference.persons * case lower(tg_op) when 'delete' then -1 else 1 end
      from (select changed.organizer, changed.event, changed.list, count(*) as persons
              from changed
             where changed.last_type = 'entry'
             group by changed.organizer, changed.event, changed.list) as difference
     where persons_inside.organizer = difference.organizer
       and persons_inside.event = difference.event
       and persons_inside.list = difference.list;
  end if;
  return null;
end
$function$;

create or replace function note_changed_answers()
 returns trigger
 language plpgsql
 set search_path to 'checkin', 'public'
AS $function$
begin
  insert into change (organizer, event, kind, entity)
  select distinct changed.organizer, changed.event, 'ticket', changed.position
    from changed;
  return null;
end
$function$;

create or replace function note_changed_events()
 returns trigger
 language plpgsql
 set search_path to 'checkin', 'public'
AS $function$
begin
  insert into change (organizer, event, kind, entity)
  select changed.organizer, changed.event, 'event', 0
    from changed;
  return null;
end
$function$;

create or replace function note_changed_media()
 returns trigger
 language plpgsql
 set search_path to 'checkin', 'public'
AS $function$
begin
  insert into change (organizer, event, kind, entity)
  select distinct changed.organizer, ticket ->> 'event', 'medium', changed.id
    from changed
   cross join jsonb_array_elements(changed.linked_positions) as ticket;
  return null;
end
$function$;

create or replace function note_changed_presences()
 returns trigger
 language plpgsql
 set search_path to 'checkin', 'public'
AS $function$
begin
  insert into change (organizer, event, kind, entity, list)
  select changed.organizer, changed.event, 'presence', changed.position, changed.list
    from changed;
  return null;
end
$function$;

create or replace function note_changes()
 returns trigger
 language plpgsql
 set search_path to 'checkin', 'public'
AS $function$
begin
  insert into change (organizer, event, kind, entity)
  select changed.organizer, changed.event, tg_argv[0], changed.id
    from changed;
  return null;
end
$function$;

create or replace function note_left_media()
 returns trigger
 language plpgsql
 set search_path to 'checkin', 'public'
AS $function$
begin
  insert into change (organizer, event, kind, entity)
  select distinct former.organizer, ticket ->> 'event', 'medium', former.id
    from former
   cross join jsonb_array_elements(former.linked_positions) as ticket;
  return null;
end
$function$;

create table alarm (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null default nextval('alarm_id'::regclass),
  kind text not null,
  gate bigint,
  device bigint,
  list bigint,
  raised_at timestamptz not null default now(),
  ended_at timestamptz,
  acknowledged_at timestamptz,
  acknowledged_by text,
  since_at timestamptz,
  measured double precision,
  usual double precision,
  constraint alarm_pkey primary key (organizer, event, id),
  constraint alarm_check check (((acknowledged_at is null) = (acknowledged_by is null)))
);
create index ended_alarm on alarm using btree (ended_at) where (ended_at is not null);
create unique index open_alarm on alarm using btree (organizer, event, kind, gate, device, list) nulls not distinct where (ended_at is null);
comment on column alarm.acknowledged_by is 'personal data: kept; what the person, the key or the device is called that has acknowledged the alarm';

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
  revision bigint not null,
  secret text collate "C" not null,
  blocked boolean not null,
  known_columns integer not null default 0,
  constraint blocked_secret_pkey primary key (organizer, event, id)
);
create index blocked_secret_by_secret on blocked_secret using btree (organizer, event, lower("left"(secret, 250)));
create trigger blocked_secret_added after insert on blocked_secret referencing new table as changed for each statement execute function note_changes('blocked');
create trigger blocked_secret_changed after update on blocked_secret referencing new table as changed for each statement execute function note_changes('blocked');
create trigger blocked_secret_removed after delete on blocked_secret referencing old table as changed for each statement execute function note_changes('blocked');

create table category (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  "position" bigint not null,
  known_columns integer not null default 0,
  constraint category_pkey primary key (organizer, event, id)
);

create table change (
  organizer text collate "C" not null,
  event text collate "C" not null,
  changed_in xid8 not null default pg_current_xact_id(),
  id bigint not null generated always as identity (cache 32),
  kind text not null,
  entity bigint not null,
  list bigint,
  constraint change_pkey primary key (organizer, event, changed_in, id),
  constraint change_kind_check check ((kind = any (array['event'::text, 'subevent'::text, 'item'::text, 'question'::text, 'list'::text, 'revoked'::text, 'blocked'::text, 'ticket'::text, 'presence'::text, 'medium'::text])))
) with (autovacuum_vacuum_insert_scale_factor=0.05);

create table change_mark (
  epoch text collate "C" not null,
  marked_at timestamptz not null default now(),
  oldest xid8 not null,
  constraint change_mark_pkey primary key (epoch, marked_at)
);

create table code_key (
  organizer text collate "C" not null,
  key bytea not null,
  constraint code_key_pkey primary key (organizer)
);

create table count_delta (
  organizer text collate "C" not null,
  event text collate "C" not null,
  list bigint not null,
  subevent bigint not null,
  item bigint not null,
  variation bigint not null,
  counted_as text not null,
  id bigint not null generated always as identity,
  positions bigint not null,
  entered bigint not null,
  inside bigint not null,
  folded boolean not null default false,
  constraint count_delta_pkey primary key (organizer, event, list, subevent, item, variation, counted_as, id),
  constraint count_delta_counted_as_check check ((counted_as = any (array['paid'::text, 'pending_valid'::text, 'pending'::text])))
) with (autovacuum_vacuum_scale_factor=0, autovacuum_vacuum_threshold=5000);
create index count_delta_fresh on count_delta using btree (id) where (not folded);

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

create table device_queue (
  organizer text collate "C" not null,
  device bigint not null,
  told_at timestamptz not null default now(),
  queue bigint not null,
  events text[],
  constraint device_queue_pkey primary key (organizer, device, told_at)
);

create table double_note (
  organizer text collate "C" not null,
  event text collate "C" not null,
  scan bigint not null,
  "position" bigint not null,
  list bigint not null,
  explanation text,
  explained_by text not null,
  explained_at timestamptz not null default clock_timestamp(),
  constraint double_note_pkey primary key (organizer, event, scan)
);
create index double_note_of_position on double_note using btree ("position", event, organizer);
comment on column double_note.explanation is 'personal data: attendee_info; whatever somebody found out about a ticket';
comment on column double_note.explained_by is 'personal data: kept; what the person, the key or the device is called that has explained the double';

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
  name jsonb not null,
  timezone text not null,
  locale text not null,
  has_subevents boolean not null,
  date_from_at timestamptz,
  date_to_at timestamptz,
  date_admission_at timestamptz,
  pdf_enabled boolean not null,
  pdf_for_addons boolean not null,
  pdf_for_non_admission boolean not null,
  pdf_while_pending boolean not null,
  known_columns integer not null default 0,
  ticket_keys jsonb,
  reusable_media_usage_enforced boolean not null default false,
  constraint event_pkey primary key (organizer, event)
);
create trigger event_added after insert on event referencing new table as changed for each statement execute function note_changed_events();
create trigger event_changed after update on event referencing new table as changed for each statement execute function note_changed_events();
create trigger event_removed after delete on event referencing old table as changed for each statement execute function note_changed_events();

create table given_answer (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  question bigint not null,
  revision bigint not null,
  state bytea not null,
  constraint given_answer_pkey primary key ("position", question, event, organizer)
);
create trigger given_answer_added after insert on given_answer referencing new table as changed for each statement execute function note_changed_answers();
create trigger given_answer_changed after update on given_answer referencing new table as changed for each statement execute function note_changed_answers();
create trigger given_answer_removed after delete on given_answer referencing old table as changed for each statement execute function note_changed_answers();
comment on column given_answer.state is 'personal data: question_answers; answer, file';

create table gone_event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  gone_at timestamptz not null,
  constraint gone_event_pkey primary key (organizer, event)
);

create table gone_list (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  constraint gone_list_pkey primary key (organizer, event, id)
);

create table gone_position (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  gone_at timestamptz not null,
  constraint gone_position_pkey primary key (organizer, event, id)
);
create index gone_position_by_time on gone_position using btree (gone_at);

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
  name jsonb not null,
  internal_name text,
  admission boolean not null,
  category bigint,
  "position" bigint not null,
  checkin_attention boolean not null,
  checkin_text text,
  generate_tickets boolean,
  variations jsonb not null,
  document jsonb not null,
  known_columns integer not null default 0,
  media_policy text,
  media_type text,
  constraint item_pkey primary key (organizer, event, id)
);
create trigger item_added after insert on item referencing new table as changed for each statement execute function note_changes('item');
create trigger item_changed after update on item referencing new table as changed for each statement execute function note_changes('item');
create trigger item_removed after delete on item referencing old table as changed for each statement execute function note_changes('item');

create table list (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  name text not null,
  all_products boolean not null,
  limit_products bigint[] not null,
  subevent bigint,
  include_pending boolean not null,
  allow_multiple_entries boolean not null,
  allow_entry_after_exit boolean not null,
  rules text not null,
  exit_all_at timestamptz,
  addon_match boolean not null,
  ignore_in_statistics boolean not null,
  consider_tickets_used boolean not null,
  exit_local_time bigint,
  exit_set_at timestamptz,
  soft_limit bigint,
  hard_limit bigint,
  takes_from bigint[] not null default '{}'::bigint[],
  constraint list_pkey primary key (organizer, event, id)
);
create index list_by_exit on list using btree (exit_all_at) where (exit_all_at is not null);
create index list_taking on list using btree (organizer, event) where (takes_from <> '{}'::bigint[]);
create trigger list_added after insert on list referencing new table as changed for each statement execute function note_changes('list');
create trigger list_changed after update on list referencing new table as changed for each statement execute function note_changes('list');
create trigger list_removed after delete on list referencing old table as changed for each statement execute function note_changes('list');

create table list_change (
  organizer text collate "C" not null,
  event text collate "C" not null,
  changed_at timestamptz not null,
  changed_in xid8 not null,
  constraint list_change_pkey primary key (organizer, event)
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

create table persons_inside (
  organizer text collate "C" not null,
  event text collate "C" not null,
  list bigint not null,
  persons bigint not null default 0,
  is_counted boolean not null default false,
  constraint persons_inside_pkey primary key (organizer, event, list)
);

create table "position" (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  positionid bigint not null,
  order_code text collate "C" not null,
  item bigint not null,
  variation bigint,
  subevent bigint,
  addon_to bigint,
  secret text collate "C" not null,
  order_status text not null,
  valid_if_pending boolean not null,
  require_approval boolean not null,
  canceled boolean not null,
  blocked boolean not null,
  valid_from_at timestamptz,
  valid_until_at timestamptz,
  counted_as text,
  attendee_name text,
  order_email text,
  order_placed_at timestamptz not null,
  search_text text not null,
  state bytea not null,
  voucher bigint,
  pseudonymization_id text collate "C",
  known_columns integer not null default 0,
  sort_name text,
  constraint position_pkey primary key (organizer, event, id),
  constraint position_counted_as_check check ((counted_as = any (array['paid'::text, 'pending_valid'::text, 'pending'::text]))),
  constraint position_order_status_check check ((order_status = any (array['pending'::text, 'paid'::text, 'expired'::text, 'canceled'::text])))
) with (fillfactor=90, autovacuum_vacuum_scale_factor=0.05, autovacuum_vacuum_insert_scale_factor=0.05);
create index position_by_addon_to on "position" using btree (organizer, event, addon_to) where (addon_to is not null);
create index position_by_email on "position" using btree (organizer, event, "left"(lower(order_email), 250), id) where (not canceled);
create index position_by_name on "position" using btree (organizer, event, sort_name, positionid, id) include (item, variation, subevent, counted_as) where (not canceled);
create index position_by_number on "position" using btree (organizer, event, positionid, id) include (item, variation, subevent, counted_as) where (not canceled);
create index position_by_order_code on "position" using btree (organizer, event, upper(order_code));
create index position_by_order_time on "position" using btree (organizer, event, order_placed_at) where (not canceled);
create index position_by_pseudonym on "position" using hash (pseudonymization_id);
create index position_by_search_text on "position" using gin (search_text gin_trgm_ops) with (gin_pending_list_limit='1024');
create index position_by_secret on "position" using btree (organizer, event, lower("left"(secret, 250)));
create index position_by_voucher on "position" using btree (organizer, event, voucher) where (voucher is not null);
create index position_limited on "position" using btree (organizer, event, id) include (blocked, valid_from_at, valid_until_at) where (blocked or (valid_from_at is not null) or (valid_until_at is not null));
create index position_nameless on "position" using btree (organizer, event, id) include (item, variation, subevent, counted_as) where ((sort_name is null) and (addon_to is null) and (not canceled));
create index position_nameless_addon on "position" using btree (organizer, event, id) include (addon_to, item, variation, subevent, counted_as) where ((sort_name is null) and (addon_to is not null) and (not canceled));
create index position_uncounted on "position" using btree (organizer, event, id) include (item, variation, subevent, order_status) where ((counted_as is null) and (not canceled));
create trigger position_added after insert on "position" referencing new table as changed for each statement execute function note_changes('ticket');
create trigger position_changed after update on "position" referencing new table as changed for each statement execute function note_changes('ticket');
create trigger position_removed after delete on "position" referencing old table as changed for each statement execute function note_changes('ticket');
comment on column "position".attendee_name is 'personal data: attendee_info';
comment on column "position".order_email is 'personal data: order_emails';
comment on column "position".search_text is 'personal data: attendee_info, order_emails, invoice_addresses; names, e-mail addresses and companies of attendee, order and invoice';
comment on column "position".state is 'personal data: attendee_info, order_emails, invoice_addresses, question_answers, kept; attendee_name, attendee_name_parts, attendee_email, company, street, zipcode, city, answers, order.email, order.invoice_name; kept are country and state, and order.checkin_text, which the organizer noted';
comment on column "position".sort_name is 'personal data: attendee_info';

create table presence (
  organizer text collate "C" not null,
  event text collate "C" not null,
  "position" bigint not null,
  list bigint not null,
  version bigint not null,
  entries bigint not null,
  last_type text,
  last_at timestamptz,
  constraint presence_pkey primary key ("position", list, event, organizer),
  constraint presence_last_type_check check ((last_type = any (array['entry'::text, 'exit'::text])))
);
create index presence_by_list on presence using btree (organizer, event, list, last_at, "position");
create index presence_without_entry on presence using btree (organizer, event, list, "position") where (entries = 0);
create trigger presence_added after insert on presence referencing new table as changed for each statement execute function note_changed_presences();
create trigger presence_changed after update on presence referencing new table as changed for each statement execute function note_changed_presences();
create trigger presence_counted_when_added after insert on presence referencing new table as changed for each statement execute function count_persons();
create trigger presence_counted_when_changed after update on presence referencing old table as former new table as changed for each statement execute function count_persons();
create trigger presence_counted_when_removed after delete on presence referencing old table as changed for each statement execute function count_persons();
create trigger presence_removed after delete on presence referencing old table as changed for each statement execute function note_changed_presences();

create table question (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  items bigint[] not null,
  "position" bigint not null,
  ask_during_checkin boolean not null,
  document jsonb not null,
  known_columns integer not null default 0,
  constraint question_pkey primary key (organizer, event, id)
);
create index question_asked on question using btree (organizer, event) where ask_during_checkin;
create trigger question_added after insert on question referencing new table as changed for each statement execute function note_changes('question');
create trigger question_changed after update on question referencing new table as changed for each statement execute function note_changes('question');
create trigger question_removed after delete on question referencing old table as changed for each statement execute function note_changes('question');

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
  revision bigint not null,
  type text collate "C" not null,
  identifier text collate "C" not null,
  active boolean not null,
  expires_at timestamptz,
  linked_positions jsonb not null,
  known_columns integer not null default 0,
  constraint reusable_medium_pkey primary key (organizer, id)
);
create index reusable_medium_by_identifier on reusable_medium using btree (organizer, identifier, type);
create index reusable_medium_by_position on reusable_medium using gin (jsonb_path_query_array(linked_positions, '$[*]."id"'::jsonpath) jsonb_path_ops) with (fastupdate=off);
create trigger reusable_medium_added after insert on reusable_medium referencing new table as changed for each statement execute function note_changed_media();
create trigger reusable_medium_changed after update on reusable_medium referencing new table as changed for each statement execute function note_changed_media();
create trigger reusable_medium_left after update on reusable_medium referencing old table as former for each statement execute function note_left_media();
create trigger reusable_medium_removed after delete on reusable_medium referencing old table as changed for each statement execute function note_changed_media();

create table revoked_secret (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  secret text collate "C" not null,
  "position" bigint,
  known_columns integer not null default 0,
  constraint revoked_secret_pkey primary key (organizer, event, id)
);
create index revoked_secret_by_secret on revoked_secret using btree (organizer, event, lower("left"(secret, 250)));
create trigger revoked_secret_added after insert on revoked_secret referencing new table as changed for each statement execute function note_changes('revoked');
create trigger revoked_secret_changed after update on revoked_secret referencing new table as changed for each statement execute function note_changes('revoked');
create trigger revoked_secret_removed after delete on revoked_secret referencing old table as changed for each statement execute function note_changes('revoked');

create table scan (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  list bigint not null,
  "position" bigint,
  type text not null,
  successful boolean not null,
  reason text,
  explanation text,
  raw_code text,
  at timestamptz not null,
  created_at timestamptz not null default now(),
  nonce text,
  device bigint,
  device_id bigint,
  gate bigint,
  forced boolean not null,
  force_sent boolean not null,
  auto_checked_in boolean not null,
  imported_id bigint,
  source_type text not null default 'barcode'::text,
  raw_item bigint,
  raw_variation bigint,
  raw_subevent bigint,
  annulled_at timestamptz,
  overruled text,
  out_of_order boolean not null default false,
  constraint scan_pkey primary key (organizer, event, id),
  constraint scan_check check ((successful = (reason is null))),
  constraint scan_check1 check ((("position" is not null) or (not successful))),
  constraint scan_type_check check ((type = any (array['entry'::text, 'exit'::text])))
);
create index annulled_scan on scan using btree (organizer, event, annulled_at) where (annulled_at is not null);
create index doubtful_scan on scan using btree (organizer, event, "position", list) where ((successful and (type = 'entry'::text) and ((overruled is not null) or out_of_order)) or ((annulled_at is not null) and (type = 'exit'::text)));
create index refused_scan_by_nonce on scan using btree (nonce, event, organizer) where ((nonce is not null) and (not successful));
create index scan_by_creation on scan using btree (organizer, event, created_at, id);
create unique index scan_by_imported_id on scan using btree (imported_id, "position", event, organizer) where (imported_id is not null);
create index scan_by_time on scan using btree (organizer, event, at, id);
create index scan_of_nonce on scan using btree (nonce, event, organizer, "position", list) where ((nonce is not null) and successful);
create index scan_of_position on scan using btree ("position", list, event, organizer, successful, at, id);
create index scan_with_code on scan using btree (created_at) where ((raw_code is not null) and (not successful));
comment on column scan.explanation is 'personal data: attendee_info; whatever somebody typed at the gate';
comment on column scan.raw_code is 'personal data: attendee_info; whatever was held to a scanner';

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
  document jsonb not null,
  known_columns integer not null default 0,
  constraint subevent_pkey primary key (organizer, event, id)
);
create trigger subevent_added after insert on subevent referencing new table as changed for each statement execute function note_changes('subevent');
create trigger subevent_changed after update on subevent referencing new table as changed for each statement execute function note_changes('subevent');
create trigger subevent_removed after delete on subevent referencing old table as changed for each statement execute function note_changes('subevent');

create table voucher (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  code text collate "C" not null,
  known_columns integer not null default 0,
  constraint voucher_pkey primary key (organizer, event, id)
);
create index voucher_by_code on voucher using btree (organizer, event, code);

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
