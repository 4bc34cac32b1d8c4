-- Why: gates may hold hashes instead of codes. All processes hash with the same key, as long as the organizer is there.
create table code_key (
  organizer text collate "C" not null primary key,
  key bytea not null
);
