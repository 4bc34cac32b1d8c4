-- Why: the doctor tells what records were taken without, also those of the feed, which answers to no sender.

-- A row per kind and field of the schemas of records.
create table record_warning (
  kind text collate "C" not null,
  field text collate "C" not null,
  count bigint not null,
  last_at timestamptz not null,
  primary key (kind, field)
);
