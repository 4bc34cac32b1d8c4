-- Why: positions that name a voucher are compared with what voucher counts, and they are few among many.
--! no-transaction
drop index concurrently if exists position_with_voucher;
--! next
create index concurrently position_with_voucher on position (organizer, event, id)
  include (voucher, taken_as, budget_use) where voucher is not null;
