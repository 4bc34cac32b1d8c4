-- Why: what boxoffice said of a position when it was asked may be older than the
-- tombstone of that position, which leaves nothing here to compare it with.
-- Kept for minutes; also for scans that were stored while their ticket went.
create table gone_position (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  gone_at timestamptz not null,
  primary key (organizer, event, id)
);
create index gone_position_by_time on gone_position (gone_at);
