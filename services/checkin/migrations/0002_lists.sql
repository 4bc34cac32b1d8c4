-- Why: check-in lists belong to checkin. Their ids are unique per event; the
-- sequence is shared and always ahead of every imported id.

create sequence list_id;

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
  exit_all_at timestamptz,
  addon_match boolean not null,
  ignore_in_statistics boolean not null,
  consider_tickets_used boolean not null,
  primary key (organizer, event, id)
);
