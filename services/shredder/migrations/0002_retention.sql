-- Why: an organizer may have the personal data of its events erased so many days after their end, without anybody asking.

-- Off without a row.
create table retention (
  organizer text collate "C" primary key,
  -- On the calendar of the event.
  days integer not null check (days >= 0),
  kinds text[] not null check (cardinality(kinds) > 0),
  instance text not null,
  changed_at timestamptz not null default clock_timestamp(),
  -- The events of the organizer are read in rounds, page by page: behind which name the next page begins, and when.
  round_after text collate "C" not null default '',
  round_at timestamptz not null default clock_timestamp()
);
create index retention_by_round on retention (round_at);

-- Erasures of events that are due soon, or late. Any change of the retention begins them again.
create table announced_erasure (
  organizer text collate "C" not null references retention on delete cascade,
  event text collate "C" not null,
  -- As boxoffice said last.
  ended_at timestamptz not null,
  -- Since when this end is announced.
  announced_at timestamptz not null,
  due_at timestamptz not null,
  -- Why it may not be erased, for people.
  problem text,
  -- When it may be tried, and how often that has failed.
  next_at timestamptz not null default clock_timestamp(),
  tries integer not null default 0,
  -- The export that is made for it, and then the case.
  export uuid,
  shred_case uuid check (shred_case is null or export is not null),
  primary key (organizer, event)
);
create index announced_erasure_by_organizer on announced_erasure (organizer, due_at, event);
create index announced_erasure_to_start on announced_erasure (due_at) where export is null;
create index announced_erasure_begun on announced_erasure (organizer, event) where export is not null;
