-- Why: whoever is inside a list at its `exit_all_at` is taken to have left.
alter table list
  -- The local date and time that `exit_all_at` stands for where the clocks skip it, for the day after has that time
  -- again: in microseconds as if it were UTC. It counts only for the instant that it comes to, so that a new
  -- `exit_all_at` needs no word about it.
  add column exit_local_time bigint;
create index list_by_exit on list (exit_all_at) where exit_all_at is not null;
