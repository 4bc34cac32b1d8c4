-- Why: the uses of one voucher are counted again when its record is of another moment.
--! no-transaction
drop index concurrently if exists position_by_voucher;
--! next
create index concurrently position_by_voucher on position (organizer, event, voucher) where voucher is not null;
