-- When a successful scan was taken back; its reason is `annulled` since then.
alter table scan add column annulled_at timestamptz;
