-- Why: clients ask whether a list of an event has changed since they read it. A deleted document leaves no row that tells.

create table document_change (
  organizer text collate "C" not null,
  event text collate "C" not null,
  -- The name of the table.
  kind text collate "C" not null,
  -- Whole seconds, as HTTP tells them: the end of the second of the last change. Each change moves it on by one at least, so
  -- that two states never share a time.
  changed_at timestamptz not null,
  -- The transaction that did it: however much it changes, it is one change.
  changed_in xid8 not null,
  primary key (organizer, event, kind)
);
