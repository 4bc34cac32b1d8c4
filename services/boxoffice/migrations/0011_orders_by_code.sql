-- Why: an order that is made here has a code that no order of the organizer has, whatever its event.
--! no-transaction
drop index concurrently if exists order_by_code;
--! next
create index concurrently order_by_code on "order" (organizer, code);
