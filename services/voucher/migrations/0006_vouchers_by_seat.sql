-- Why: whether a seat belongs to another voucher is looked up for each seat in a cart. Few vouchers have one.
--! no-transaction
drop index concurrently if exists voucher_by_seat;
--! next
create index concurrently voucher_by_seat on voucher (organizer, event, seat) where seat is not null;
