-- Why: personal data is erased only after it was exported, and what was erased must be provable for as long as anybody asks.

-- An export of the personal data of an event. Its file is in the store for files for two hours.
create table export (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  -- The second part of its address.
  file uuid not null,
  -- Who asked for it; it exists for no other one.
  credential text collate "C" not null,
  kinds text[] not null,
  instance text not null,
  started_at timestamptz not null default clock_timestamp(),
  -- What each service said of the event when the export began, by its name: any change since keeps it from being erased.
  versions jsonb,
  file_key text collate "C",
  size bigint,
  sha256 text collate "C",
  made_at timestamptz,
  primary key (organizer, event, id)
);
create unique index export_by_file on export (file_key) where file_key is not null;
create index export_by_time on export (started_at);

-- The ledger of cases: each erases the personal data of an event. It names no person, and is kept.
create table shred_case (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  -- The second part of the address of its status.
  file uuid not null,
  export uuid not null,
  credential text collate "C" not null,
  kinds text[] not null,
  instance text not null,
  export_sha256 text collate "C" not null,
  exported_at timestamptz not null,
  started_at timestamptz not null default clock_timestamp(),
  -- When services were asked: from now on there is no way back.
  requested_at timestamptz,
  erased_at timestamptz,
  failed_at timestamptz,
  -- When its event was deleted: the name may be that of another event now.
  event_gone_at timestamptz,
  -- What each service has erased, by its name.
  parts jsonb,
  primary key (organizer, event, id)
);
-- What was exported is erased by one case; where that was refused, by another one.
create unique index shred_case_of_export on shred_case (organizer, event, export) where failed_at is null;

-- Signs certificates.
create table signing_key (
  is_only boolean primary key default true check (is_only),
  private_key text not null
);
comment on column signing_key.private_key is 'secret: signs certificates';
