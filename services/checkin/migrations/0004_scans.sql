-- Why: scans are the history, presences decide, deltas count. All three are
-- written by one statement, so none can be ahead of another.

-- Not cached by sessions: among successful scans of one ticket on one list, a
-- later one has a greater id, which breaks ties between equal instants.
create sequence scan_id;

-- Every decided scan, refused ones too.
create table scan (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  list bigint not null,
  -- Null: no ticket has the scanned code.
  position bigint,
  type text not null check (type in ('entry', 'exit')),
  successful boolean not null,
  -- Of a refusal.
  reason text,
  explanation text,
  -- What was scanned; null where the scan was made elsewhere.
  raw_code text,
  -- When it was scanned, as the device says; when it came here.
  at timestamptz not null,
  created_at timestamptz not null default now(),
  nonce text,
  device bigint,
  device_id bigint,
  gate bigint,
  forced boolean not null,
  force_sent boolean not null,
  auto_checked_in boolean not null,
  -- Its id where it was made, elsewhere and before the records came here. Among the scans of its ticket: nothing
  -- keeps a sender from giving scans of two tickets one id, and none of them may be lost.
  imported_id bigint,
  -- barcode, nfc_uid or nfc_mf0aes.
  source_type text not null default 'barcode',
  -- What a device took the code of a refused scan for.
  raw_item bigint,
  raw_variation bigint,
  raw_subevent bigint,
  primary key (organizer, event, id),
  check (successful = (reason is null)),
  check (position is not null or not successful)
);

-- Here and below, what tells rows apart stands first: comparisons end with it, and no plan mistakes
-- another index for as good while a table is new.
--
-- The newest scans of a ticket on a list are read at each of its scans, however many there are; a nonce is looked up for
-- one ticket on one list. Both are found in the index alone.
create index scan_of_position on scan (position, list, event, organizer, successful, at, id);
create index scan_of_nonce on scan (nonce, event, organizer, position, list) where nonce is not null and successful;
-- Devices report a refusal until they hear that it arrived.
create index refused_scan_by_nonce on scan (nonce, event, organizer) where nonce is not null and not successful;
create unique index scan_by_imported_id on scan (imported_id, position, event, organizer) where imported_id is not null;
-- The history is read in the order of its arrival, and in the order of the scans.
create index scan_by_creation on scan (organizer, event, created_at, id);
create index scan_by_time on scan (organizer, event, at, id);
-- Codes of refusals are kept for some time only.
create index scan_with_code on scan (created_at) where raw_code is not null and not successful;

-- What was scanned admits everyone who has it, and the explanation of a refusal may name its guest.
comment on column scan.raw_code is 'personal data';
comment on column scan.explanation is 'personal data';

-- What the successful scans of one ticket on one list come to. An admission
-- changes the row as it was read, or none: `version` counts the scans.
create table presence (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  list bigint not null,
  version bigint not null,
  entries bigint not null,
  -- Of the scan with the latest `at`, the last to arrive among equals.
  last_type text not null check (last_type in ('entry', 'exit')),
  last_at timestamptz not null,
  primary key (position, list, event, organizer)
);

-- Counts of a list are sums over these rows. Every change of what counts adds
-- rows for what it changed; no row is updated, so no change waits for another.
-- Every few seconds the fresh rows of a bucket are folded into one.
create table count_delta (
  organizer text collate "C" not null,
  event text collate "C" not null,
  -- 0: the row counts tickets; else it counts those of them that were scanned on this list.
  list bigint not null,
  -- Of the tickets; 0: none.
  subevent bigint not null,
  item bigint not null,
  variation bigint not null,
  counted_as text not null check (counted_as in ('paid', 'pending_valid', 'pending')),
  id bigint generated always as identity,
  positions bigint not null,
  -- With an entry; whose latest scan is an entry.
  entered bigint not null,
  inside bigint not null,
  folded boolean not null default false,
  primary key (organizer, event, list, subevent, item, variation, counted_as, id)
) with (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000);

create index count_delta_fresh on count_delta (id) where not folded;
