-- Why: pages of large lists are read in orders that no index had: of tickets without a name of their own, by number and by
-- e-mail address. An index cannot hold addresses of any length.
--! no-transaction
drop index concurrently if exists position_nameless;
--! next
create index concurrently position_nameless on position (organizer, event, id)
  include (item, variation, subevent, counted_as) where sort_name is null and addon_to is null and not canceled;
--! next
drop index concurrently if exists position_nameless_addon;
--! next
create index concurrently position_nameless_addon on position (organizer, event, id)
  include (addon_to, item, variation, subevent, counted_as)
  where sort_name is null and addon_to is not null and not canceled;
--! next
drop index concurrently if exists position_by_number;
--! next
create index concurrently position_by_number on position (organizer, event, positionid, id)
  include (item, variation, subevent, counted_as) where not canceled;
--! next
drop index concurrently if exists position_by_email;
--! next
create index concurrently position_by_email on position (organizer, event, left(lower(order_email), 250), id)
  where not canceled;
