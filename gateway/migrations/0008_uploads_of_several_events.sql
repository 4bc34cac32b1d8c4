-- Why: answers of several events may name one upload. Each of them is erased by itself, and the file goes with the last one.

-- The events that name an upload beside the one in its row.
create table further_naming (
  upload uuid not null references upload on delete cascade,
  event text collate "C" not null,
  primary key (upload, event)
);
