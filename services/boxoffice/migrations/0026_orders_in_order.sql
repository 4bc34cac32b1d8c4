-- Why: scanners read all orders of an event, page by page, and later those that have changed since. Most ask for orders that
-- were not made for a test, and most events have no others.
--
-- Only the last index has revisions in order: a search for any order of a test by them reads nothing else.
--
-- The time of an order is text in UTC: without the zone it sorts by time, also within a second.
--! no-transaction
drop index concurrently if exists order_by_change;
--! next
create index concurrently order_by_change on "order" (organizer, event, changed_at, code);
--! next
drop index concurrently if exists order_by_placing;
--! next
create index concurrently order_by_placing on "order" (organizer, event, rtrim(data ->> 'datetime', 'Z') collate "C", code);
--! next
drop index concurrently if exists order_for_test;
--! next
create index concurrently order_for_test on "order" (organizer, event, revision) where (data -> 'testmode')::boolean;
