-- Why: gates follow changes by a feed. It must miss none, whatever transactions were open when it was read.

-- What has changed, in which transaction. A reader names the snapshot of the database that it has seen; what is not
-- visible in that snapshot is new. So a change that is committed late is found late, and never missed.
create table change (
  organizer text collate "C" not null,
  event text collate "C" not null,
  changed_in xid8 not null default pg_current_xact_id(),
  id bigint not null generated always as identity (cache 32),
  kind text not null check (kind in ('event', 'subevent', 'item', 'question', 'list', 'revoked', 'blocked', 'ticket', 'presence', 'medium')),
  -- The id of the event is 0. A presence has the id of its ticket.
  entity bigint not null,
  list bigint,
  primary key (organizer, event, changed_in, id)
) with (autovacuum_vacuum_insert_scale_factor = 0.05);

-- Since the oldest mark all changes are kept. Numbers of transactions are of one database cluster and one timeline (`epoch`): after
-- a failover or a restore they go on from another place.
create table change_mark (
  epoch text collate "C" not null,
  marked_at timestamptz not null default now(),
  oldest xid8 not null,
  primary key (epoch, marked_at)
);

-- Triggers, so that no statement of any version changes a row without a note.
create function note_changes() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  insert into change (organizer, event, kind, entity)
  select changed.organizer, changed.event, tg_argv[0], changed.id
    from changed;
  return null;
end
$$;

create function note_changed_events() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  insert into change (organizer, event, kind, entity)
  select changed.organizer, changed.event, 'event', 0
    from changed;
  return null;
end
$$;

create function note_changed_presences() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  insert into change (organizer, event, kind, entity, list)
  select changed.organizer, changed.event, 'presence', changed.position, changed.list
    from changed;
  return null;
end
$$;

-- Answers belong to their ticket.
create function note_changed_answers() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  insert into change (organizer, event, kind, entity)
  select distinct changed.organizer, changed.event, 'ticket', changed.position
    from changed;
  return null;
end
$$;

-- A medium is noted for each event of its tickets.
create function note_changed_media() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  insert into change (organizer, event, kind, entity)
  select distinct changed.organizer, ticket ->> 'event', 'medium', changed.id
    from changed
   cross join jsonb_array_elements(changed.linked_positions) as ticket;
  return null;
end
$$;

-- The tickets that it had before.
create function note_left_media() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  insert into change (organizer, event, kind, entity)
  select distinct former.organizer, ticket ->> 'event', 'medium', former.id
    from former
   cross join jsonb_array_elements(former.linked_positions) as ticket;
  return null;
end
$$;

create trigger event_added after insert on event
  referencing new table as changed
  for each statement execute function note_changed_events();
create trigger event_changed after update on event
  referencing new table as changed
  for each statement execute function note_changed_events();
create trigger event_removed after delete on event
  referencing old table as changed
  for each statement execute function note_changed_events();

create trigger subevent_added after insert on subevent
  referencing new table as changed
  for each statement execute function note_changes('subevent');
create trigger subevent_changed after update on subevent
  referencing new table as changed
  for each statement execute function note_changes('subevent');
create trigger subevent_removed after delete on subevent
  referencing old table as changed
  for each statement execute function note_changes('subevent');

create trigger item_added after insert on item
  referencing new table as changed
  for each statement execute function note_changes('item');
create trigger item_changed after update on item
  referencing new table as changed
  for each statement execute function note_changes('item');
create trigger item_removed after delete on item
  referencing old table as changed
  for each statement execute function note_changes('item');

create trigger question_added after insert on question
  referencing new table as changed
  for each statement execute function note_changes('question');
create trigger question_changed after update on question
  referencing new table as changed
  for each statement execute function note_changes('question');
create trigger question_removed after delete on question
  referencing old table as changed
  for each statement execute function note_changes('question');

create trigger list_added after insert on list
  referencing new table as changed
  for each statement execute function note_changes('list');
create trigger list_changed after update on list
  referencing new table as changed
  for each statement execute function note_changes('list');
create trigger list_removed after delete on list
  referencing old table as changed
  for each statement execute function note_changes('list');

create trigger revoked_secret_added after insert on revoked_secret
  referencing new table as changed
  for each statement execute function note_changes('revoked');
create trigger revoked_secret_changed after update on revoked_secret
  referencing new table as changed
  for each statement execute function note_changes('revoked');
create trigger revoked_secret_removed after delete on revoked_secret
  referencing old table as changed
  for each statement execute function note_changes('revoked');

create trigger blocked_secret_added after insert on blocked_secret
  referencing new table as changed
  for each statement execute function note_changes('blocked');
create trigger blocked_secret_changed after update on blocked_secret
  referencing new table as changed
  for each statement execute function note_changes('blocked');
create trigger blocked_secret_removed after delete on blocked_secret
  referencing old table as changed
  for each statement execute function note_changes('blocked');

create trigger position_added after insert on position
  referencing new table as changed
  for each statement execute function note_changes('ticket');
create trigger position_changed after update on position
  referencing new table as changed
  for each statement execute function note_changes('ticket');
create trigger position_removed after delete on position
  referencing old table as changed
  for each statement execute function note_changes('ticket');

create trigger given_answer_added after insert on given_answer
  referencing new table as changed
  for each statement execute function note_changed_answers();
create trigger given_answer_changed after update on given_answer
  referencing new table as changed
  for each statement execute function note_changed_answers();
create trigger given_answer_removed after delete on given_answer
  referencing old table as changed
  for each statement execute function note_changed_answers();

create trigger presence_added after insert on presence
  referencing new table as changed
  for each statement execute function note_changed_presences();
create trigger presence_changed after update on presence
  referencing new table as changed
  for each statement execute function note_changed_presences();
create trigger presence_removed after delete on presence
  referencing old table as changed
  for each statement execute function note_changed_presences();

create trigger reusable_medium_added after insert on reusable_medium
  referencing new table as changed
  for each statement execute function note_changed_media();
create trigger reusable_medium_changed after update on reusable_medium
  referencing new table as changed
  for each statement execute function note_changed_media();
create trigger reusable_medium_removed after delete on reusable_medium
  referencing old table as changed
  for each statement execute function note_changed_media();
create trigger reusable_medium_left after update on reusable_medium
  referencing old table as former
  for each statement execute function note_left_media();
