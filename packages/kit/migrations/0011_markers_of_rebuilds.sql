-- Why: an import leaves a marker for each partition of each topic, which are asked about for seconds; those of a rebuild are
-- needed for days.

-- True, too: what a version without this column stores.
alter table passed_marker add column is_of_rebuild boolean not null default true;
