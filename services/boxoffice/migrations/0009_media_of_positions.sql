-- Why: a ticket may print the medium that is linked to it, and an organizer may have as many media as visitors. Each lookup
-- would read all changes that still wait for their place in the index, so none waits.
--! no-transaction
drop index concurrently if exists reusable_medium_by_position;
--! next
create index concurrently reusable_medium_by_position on reusable_medium
  using gin ((data -> 'linked_orderpositions') jsonb_path_ops) with (fastupdate = off);
