-- Why: what an owner has stored is added up before more work is taken.
--! no-transaction
drop index concurrently if exists work_bytes_of_owner;
--! next
create index concurrently work_bytes_of_owner on work (kind, owner) include (bytes)
  where bytes > 0 and state in ('waiting', 'running', 'succeeded');
