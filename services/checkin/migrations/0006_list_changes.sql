-- Why: clients ask whether the lists of an event have changed since they read
-- them. Scans and the daily move of an automatic exit are no such changes.
create table list_change (
  organizer text collate "C" not null,
  event text collate "C" not null,
  -- Whole seconds, as HTTP tells them. Each change moves it on by one at
  -- least, so that two states never share a time.
  changed_at timestamptz not null,
  -- The transaction that did it: however much it changes, it is one change.
  changed_in xid8 not null,
  primary key (organizer, event)
);
