-- Why: a scanner is found by its code alone.
--! no-transaction
drop index concurrently if exists credential_by_setup;
--! next
create unique index concurrently credential_by_setup on credential (setup_hash);
