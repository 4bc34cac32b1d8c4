-- Why: the newest scans of a ticket on a list are read at each of its scans, however many there are; a nonce is looked up
-- for one ticket on one list. Both are found in the index alone.
--! no-transaction
create index concurrently if not exists scan_of_position
  on scan (position, list, event, organizer, successful, at, id);
--! next
drop index concurrently if exists scan_by_position;
--! next
create index concurrently if not exists scan_of_nonce
  on scan (nonce, event, organizer, position, list) where nonce is not null and successful;
--! next
drop index concurrently if exists scan_by_nonce;
