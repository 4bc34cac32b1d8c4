-- Why: a scan of a ticket that is exchanged for a medium asks which media it has.
--! no-transaction
drop index concurrently if exists reusable_medium_by_position;
--! next
create index concurrently reusable_medium_by_position
    on reusable_medium using gin (jsonb_path_query_array(linked_positions, '$[*].id') jsonb_path_ops) with (fastupdate = off);
