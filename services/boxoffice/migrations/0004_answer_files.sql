-- Why: answers that are files are too large for documents and facts.
--
-- The bytes are in the store for files, each time they are sent under a new
-- key: no row can come to name a file that is being deleted. A
-- file that no row names is deleted an hour after it was stored. A row is deleted with its
-- position.

create table answer_file (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  question bigint not null,
  file_key text collate "C" not null unique,
  name text not null,
  content_type text not null,
  -- In bytes.
  size bigint not null,
  sha256 bytea not null,
  primary key (organizer, event, position, question),
  foreign key (organizer, event, position) references position on delete cascade
);
comment on column answer_file.name is 'personal data';
comment on table answer_file is 'personal data: the files themselves, for instance photographs of people';
