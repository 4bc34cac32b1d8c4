-- Why: facts leave a service in the transaction that made them true, and enter
-- another in the transaction that acts on them. Every service's schema has these.

-- Rows wait here until the bus has them; the relay deletes, it keeps no cursor,
-- so a row of a transaction that commits late is never skipped.
create table outbox (
  id bigint generated always as identity,
  fact_id uuid not null default gen_random_uuid(),
  topic text not null,
  key text not null,
  -- Only markers name their partition; facts go where their key leads.
  partition integer,
  -- Null: a tombstone, the entity is gone.
  payload bytea,
  marker uuid,
  traceparent text,
  created_at timestamptz not null default now(),
  -- Beside those that a row implies, or instead of them.
  headers jsonb,
  -- The relay reads each topic for itself: rows of one that is stuck are not read with those of the others.
  primary key (topic, id)
);

-- What each consumer has acted on. Partitioned by the day of the fact, so that
-- a redelivery after midnight still meets its own row.
create table inbox (
  fact_on date not null,
  consumer text not null,
  fact_id uuid not null,
  primary key (fact_on, consumer, fact_id)
) partition by range (fact_on);

create table inbox_other partition of inbox default;

-- Facts that no retry could apply, with the cause.
create table dead_letter (
  id bigint generated always as identity primary key,
  -- The service and the topic; `outbox` for a fact that the bus refused.
  consumer text not null,
  topic text not null,
  key text not null,
  fact_id uuid not null,
  fact_at timestamptz not null,
  payload bytea,
  cause text not null,
  parked_at timestamptz not null default now(),
  -- Where it came from, and with which of our headers: a replay acts on it as it was.
  partition integer not null default 0,
  headers jsonb not null default '{}',
  -- A later fact of its key was accepted: state that was superseded must not come back.
  overtaken boolean not null default false,
  replay_requested_at timestamptz,
  -- Replays that came to nothing; `cause` is that of the last.
  tries integer not null default 0,
  tried_at timestamptz,
  unique (consumer, fact_id)
);
create index dead_letter_to_replay on dead_letter (id) where replay_requested_at is not null;
-- Keys from elsewhere may be longer than a b-tree takes.
create index dead_letter_by_key on dead_letter using hash (key) where not overtaken;

-- Markers that consumers have passed: everything before them is consumed.
create table passed_marker (
  consumer text not null,
  marker uuid not null,
  topic text not null,
  partition integer not null,
  passed_at timestamptz not null default now(),
  primary key (consumer, marker, topic, partition)
);
