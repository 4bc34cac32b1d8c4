-- Why: an answer that was given at a gate for a position of a deleted event may arrive when another event has the name and a position
-- with that id.

-- Null: before this migration.
alter table position add column made_at timestamptz;
alter table position alter column made_at set default clock_timestamp();
