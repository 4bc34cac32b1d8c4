-- Why: pages and counts of large events have to be read without reading the event. What filters usually ask for is in the
-- index by name, so that what lies before a page is skipped there. The others are for exceptions, and nearly empty.
--! no-transaction
drop index concurrently if exists position_by_name;
--! next
create index concurrently position_by_name on position (organizer, event, sort_name, positionid, id)
  include (item, variation, subevent, counted_as) where not canceled;
--! next
drop index concurrently if exists position_by_order_time;
--! next
create index concurrently position_by_order_time on position (organizer, event, order_placed_at) where not canceled;
--! next
drop index concurrently if exists position_uncounted;
--! next
create index concurrently position_uncounted on position (organizer, event, id)
  include (item, variation, subevent, order_status) where counted_as is null and not canceled;
--! next
drop index concurrently if exists position_limited;
--! next
create index concurrently position_limited on position (organizer, event, id)
  include (blocked, valid_from_at, valid_until_at)
  where blocked or valid_from_at is not null or valid_until_at is not null;
--! next
drop index concurrently if exists position_by_voucher;
--! next
create index concurrently position_by_voucher on position (organizer, event, voucher) where voucher is not null;
--! next
drop index concurrently if exists position_by_pseudonym;
--! next
create index concurrently position_by_pseudonym on position using hash (pseudonymization_id);
--! next
drop index concurrently if exists presence_by_list;
--! next
create index concurrently presence_by_list on presence (organizer, event, list, last_at, position);
--! next
drop index concurrently if exists presence_without_entry;
--! next
create index concurrently presence_without_entry on presence (organizer, event, list, position) where entries = 0;
