-- Why: devices tell what they have printed for a ticket, so that others do not print it again.

create sequence print_id_seq as bigint;

create table print (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  id bigint not null default nextval('print_id_seq'),
  successful boolean not null,
  printed_at timestamptz not null,
  -- The name of an app.
  source text not null,
  type text not null check (type in ('badge', 'ticket', 'certificate', 'other')),
  -- Null: it was no device.
  device_id bigint,
  info jsonb not null,
  primary key (organizer, event, position, id),
  foreign key (organizer, event, position) references position on delete cascade
);
alter table print alter column info set statistics 0;
comment on column print.info is 'personal data: kept; what a device says of its printer';
