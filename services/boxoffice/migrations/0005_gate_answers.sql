-- Why: what visitors answer at a gate belongs to their position from then on,
-- and a ticket that was sold seconds ago is asked for by its secret.
--
-- An answer given at a gate stands in the state of its position in the place of
-- the record's. It is kept here, too, because a record that is sent again does
-- not have it. A program that does not know this table may still run: orders
-- that it takes lose these answers until it is sent again to one that does.

-- Answers given at the gate are taken up to this revision of theirs; it never
-- goes down.
alter table position add column answers_revision bigint;
-- An import asks which of its positions have any; mostly none has.
create index position_with_gate_answers on position (organizer, event, id) where answers_revision is not null;

-- Slugs hold no slash. A hash, because secrets are long; of all three, so that
-- nobody's equal secrets are in the way of somebody else's.
create index position_by_secret on position using hash ((organizer || '/' || event || '/' || secret));

create table gate_answer (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  question bigint not null,
  -- ticketing.boxoffice.v1.Answer. Null: only one is awaited.
  answer bytea,
  -- ticketing.checkin.v1.GivenAnswer that takes its place as soon as its file is copied.
  awaited bytea,
  awaited_revision bigint,
  -- Whoever copies the file moves it ahead: before that nobody else does.
  copy_at timestamptz,
  primary key (organizer, event, position, question),
  foreign key (organizer, event, position) references position on delete cascade,
  constraint gate_answer_state check (
    (answer is not null or awaited is not null)
    and (awaited is null) = (awaited_revision is null)
    and (awaited is null) = (copy_at is null)
  )
);
create index gate_answer_awaited on gate_answer (copy_at) where copy_at is not null;
comment on column gate_answer.answer is 'personal data: answer';
comment on column gate_answer.awaited is 'personal data: answer, file';
