-- Why: scans are judged by rules and questions, their answers are kept, and what
-- devices refused by themselves is part of the history.
create sequence answer_revision as bigint;

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

-- Every scan looks for them; most events have none.
create index question_asked on question (organizer, event) where ask_during_checkin;

-- The resources as the API shows them.
alter table item add column document jsonb not null default '{}';
alter table item alter column document drop default;
alter table subevent add column document jsonb not null default '{}';
alter table subevent alter column document drop default;

alter table scan
  -- barcode, nfc_uid or nfc_mf0aes.
  add column source_type text not null default 'barcode',
  -- What a device took the code of a refused scan for.
  add column raw_item bigint,
  add column raw_variation bigint,
  add column raw_subevent bigint;
create index scan_by_creation on scan (organizer, event, created_at, id);
