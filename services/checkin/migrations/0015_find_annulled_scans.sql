-- Why: devices ask which tickets have changed, and a scan that was taken back is a change.
--! no-transaction
drop index concurrently if exists annulled_scan;
--! next
create index concurrently annulled_scan on scan (organizer, event, annulled_at) where annulled_at is not null;
