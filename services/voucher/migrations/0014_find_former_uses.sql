-- Why: boxoffice may tell that a use began before what was known of its position, so the former uses of a position are looked up again.
--! no-transaction
drop index concurrently if exists former_use_by_position;
--! next
create index concurrently former_use_by_position on former_use (organizer, event, position, until_at);
