-- Why: operators have topics rebuilt. That is asked for by a row and done by the running service, so what was
-- asked for outlives every process.

-- Topics whose owner publishes again what it holds. The id is the marker of the messages that end it.
create table rebuild (
  id uuid primary key default gen_random_uuid(),
  topic text not null,
  requested_at timestamptz not null default now(),
  -- Null: not begun. What was before is below this number, what is written from then on above it.
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
