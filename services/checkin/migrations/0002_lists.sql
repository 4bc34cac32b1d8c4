-- Why: check-in lists belong to checkin. Their ids are unique per event.

-- Lists that are made here have ids from a range of their own: records may not bring any of them, nor may scans that
-- were made elsewhere name one.
create sequence list_id start with 1000000000001 minvalue 1000000000001;

create table list (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  name text not null,
  all_products boolean not null,
  limit_products bigint[] not null,
  -- Null: the list is for all dates.
  subevent bigint,
  include_pending boolean not null,
  allow_multiple_entries boolean not null,
  allow_entry_after_exit boolean not null,
  -- JSON, given back as it came.
  rules text not null,
  -- When all tickets that are inside are checked out.
  exit_all_at timestamptz,
  addon_match boolean not null,
  ignore_in_statistics boolean not null,
  consider_tickets_used boolean not null,
  -- The local date and time that `exit_all_at` stands for where the clocks skip it, because the day after has that time
  -- again: in microseconds as if it were UTC. It counts only for the instant that it comes to, so a new
  -- `exit_all_at` need not change it.
  exit_local_time bigint,
  -- `exit_all_at` as it was set last. The daily move does not change it, so a record that is sent again is recognized.
  exit_set_at timestamptz,
  primary key (organizer, event, id)
);
create index list_by_exit on list (exit_all_at) where exit_all_at is not null;

-- A list that was deleted. Scans of it that were made elsewhere are not taken again, unless the list comes back.
create table gone_list (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  primary key (organizer, event, id)
);

-- Clients ask whether the lists of an event have changed since they read them. Scans and the daily move of an automatic
-- exit are no such changes.
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
