-- Why: an organizer sees what its retention has erased, the last erasure first.
--! no-transaction
drop index concurrently if exists shred_case_of_retention;
--! next
create index concurrently shred_case_of_retention on shred_case (organizer, erased_at desc, id)
  where credential = 'retention' and erased_at is not null and event_gone_at is null;
