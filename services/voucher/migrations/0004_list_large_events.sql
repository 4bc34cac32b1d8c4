-- Why: pages of an event with a million vouchers are read in every order from its nearer end, and found by every filter,
-- without reading the event.
--! no-transaction
drop index concurrently if exists voucher_by_max_usages;
--! next
create index concurrently voucher_by_max_usages on voucher (organizer, event, max_usages, id);
--! next
drop index concurrently if exists voucher_by_valid_until;
--! next
create index concurrently voucher_by_valid_until on voucher (organizer, event, valid_until_at, id);
--! next
drop index concurrently if exists voucher_by_value;
--! next
create index concurrently voucher_by_value on voucher (organizer, event, value, id);
--! next
drop index concurrently if exists voucher_by_variation;
--! next
create index concurrently voucher_by_variation on voucher (organizer, event, variation, id) where variation is not null;
--! next
drop index concurrently if exists voucher_by_state;
--! next
-- Few different values in each column: it is small, and a filter on a later column skips from one to the next.
create index concurrently voucher_by_state on voucher
  (organizer, event, price_mode, block_quota, allow_ignore_quota, (redeemed >= max_usages), redeemed);
--! next
drop index concurrently if exists voucher_by_text;
--! next
-- Line breaks separate the fields. What was inserted waits in a list, which a job merges, so that no insert does.
create index concurrently voucher_by_text on voucher
  using gin (((code || E'\n' || tag || E'\n' || comment) collate "default") gin_trgm_ops)
  with (gin_pending_list_limit = 32768);
