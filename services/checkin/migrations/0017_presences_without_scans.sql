-- Why: an annulment may leave a ticket without a successful scan. Its presence stays, without a last scan: versions that
-- began again would meet those that another scan has read.
alter table presence
  alter column last_type drop not null,
  alter column last_at drop not null;
