-- Why: organizers note what they found out about a double.
create table double_note (
  organizer text collate "C" not null,
  event text collate "C" not null,
  -- The later scan of the double, and its ticket and list, with which the note is deleted.
  scan bigint not null,
  position bigint not null,
  list bigint not null,
  -- Null: it was erased.
  explanation text,
  -- The name of the credential, as it was then.
  explained_by text not null,
  explained_at timestamptz not null default clock_timestamp(),
  primary key (organizer, event, scan)
);
create index double_note_of_position on double_note (position, event, organizer);

comment on column double_note.explanation is 'personal data: attendee_info; whatever somebody found out about a ticket';
-- Statistics would be a second copy.
alter table double_note alter column explanation set statistics 0;
