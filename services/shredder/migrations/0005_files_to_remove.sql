-- Why: a file of a deleted event goes soon, and not only when jobs look for files that no row names.
create table file_to_remove (
  key text collate "C" not null primary key
);
