-- Why: operators replay parked facts and have topics rebuilt. Both are asked for
-- by a row and done by the running service, so what was asked for outlives every process.

-- Headers beside those that a row implies, or instead of them.
alter table outbox add column headers jsonb;

alter table dead_letter
  -- Where it came from, and with which of our headers: what acts again on it sees it as it was.
  add column partition integer not null default 0,
  add column headers jsonb not null default '{}',
  -- A later fact of its key was accepted: state that was superseded must not come back.
  add column overtaken boolean not null default false,
  add column replay_requested_at timestamptz,
  -- Replays that came to nothing; `cause` is that of the last.
  add column tries integer not null default 0,
  add column tried_at timestamptz;

create index dead_letter_to_replay on dead_letter (id) where replay_requested_at is not null;

-- Keys from elsewhere may be longer than a b-tree takes.
create index dead_letter_by_key on dead_letter using hash (key) where not overtaken;

-- Topics whose owner publishes again what it holds. The id is the marker of the messages that end it.
create table rebuild (
  id uuid primary key default gen_random_uuid(),
  topic text not null,
  requested_at timestamptz not null default now(),
  -- Null: not begun. What was before lies below this number, what is written from then on above it.
  line bigint,
  begun_at timestamptz,
  -- Behind what it goes on.
  place text,
  expected bigint,
  written bigint not null default 0,
  -- How many messages ended it, one for each.
  partitions integer,
  finished_at timestamptz,
  -- Why it was given up.
  cause text
);
