-- Why: when an event is over, every service erases what it holds of people; how far it is must survive a crash, and what
-- was erased must stay so.
create table erasure (
  organizer text collate "C" not null,
  event text collate "C" not null,
  case_id uuid not null,
  -- Kinds of personal data: identifiers of shredders.
  kinds text[] not null,
  requested_at timestamptz not null default clock_timestamp(),
  done_at timestamptz,
  primary key (organizer, event, case_id)
);

-- What an erasure has erased so far.
create table erased_part (
  organizer text collate "C" not null,
  event text collate "C" not null,
  case_id uuid not null,
  kind text not null,
  holding text not null,
  amount bigint not null,
  primary key (organizer, event, case_id, kind, holding),
  foreign key (organizer, event, case_id) references erasure on delete cascade
);
