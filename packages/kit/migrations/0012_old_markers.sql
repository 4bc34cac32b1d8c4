-- Why: old markers are deleted every hour; the others are not read for that.
--! no-transaction
drop index concurrently if exists passed_marker_by_time;
--! next
create index concurrently passed_marker_by_time on passed_marker (is_of_rebuild, passed_at);
