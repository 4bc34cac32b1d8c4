-- Why: what visitors answer at a gate belongs to their position from then on.
--
-- `position.state` holds what the record says and nothing else, so a record that is sent again
-- loses no answer. `gate_answer` holds what gates said, with the file that a gate sent. They are
-- merged when a position is read.

create table gate_answer (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  question bigint not null,
  -- ticketing.boxoffice.v1.Answer. Null: it was removed at a gate, or is only awaited.
  answer bytea,
  -- ticketing.checkin.v1.GivenAnswer that takes its place as soon as its file is copied.
  awaited bytea,
  awaited_revision bigint,
  -- Of the answer, or of its removal. Null: one is only awaited.
  revision bigint,
  -- Of an answer that is a file.
  file jsonb,
  primary key (organizer, event, position, question),
  foreign key (organizer, event, position) references position on delete cascade,
  constraint gate_answer_state check (
    (revision is not null or awaited_revision is not null)
    and (answer is null or revision is not null)
    and (file is null or answer is not null)
    and (awaited is null) = (awaited_revision is null)
  )
);
create unique index gate_answer_file on gate_answer ((file ->> 'fileKey')) where file is not null;
comment on column gate_answer.answer is 'personal data: answer';
comment on column gate_answer.awaited is 'personal data: answer, file';
comment on column gate_answer.file is 'personal data: name';
comment on table gate_answer is 'personal data: the files themselves, for instance photographs of people';
