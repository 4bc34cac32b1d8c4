-- Why: scanners ask which orders have changed since they asked last.
--
-- The time is taken under the lock of the event's changes, not when the transaction begins: that may be before another change
-- that is committed first.

alter table "order" add column changed_at timestamptz not null default now();
alter table "order" alter column changed_at set default clock_timestamp();
