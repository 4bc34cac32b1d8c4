-- Why: what another service keeps of an organizer must not count for a later one of the same name.

-- Those that exist have the time of this migration.
alter table organizer add column created_at timestamptz not null default now();
alter table organizer alter column created_at set default clock_timestamp();
