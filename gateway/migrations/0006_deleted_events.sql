-- Why: an event may get the name of one that was deleted, and must not get the answers about it repeated.

-- Notes of deleted events. All that is kept about one ends with its note, in one row, and is erased later.
create table deleted_event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  -- Which deletion was the last one of an event of this name.
  deletion uuid not null default gen_random_uuid(),
  deleted_at timestamptz not null default clock_timestamp(),
  primary key (organizer, event)
);

-- The last deletion when the request was claimed. Another one since: the answer shows a deleted event.
alter table kept_answer add column deletion uuid;
-- There was an answer, and it was erased.
alter table kept_answer add column is_erased boolean not null default false;

-- The request under an idempotency key that sent the file: its repetitions name one file.
alter table upload add column request_id uuid;
