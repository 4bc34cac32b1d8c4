-- Why: the platform says by itself what somebody should look at, at the gates of an event.
create sequence alarm_id;

create table alarm (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null default nextval('alarm_id'),
  kind text not null,
  -- Of what it is; null: it is of no single one.
  gate bigint,
  device bigint,
  list bigint,
  raised_at timestamptz not null default now(),
  ended_at timestamptz,
  acknowledged_at timestamptz,
  -- The name of the credential, as it was then.
  acknowledged_by text,
  -- What was measured when it was raised, for the sentence of a screen.
  since_at timestamptz,
  measured double precision,
  usual double precision,
  primary key (organizer, event, id),
  check ((acknowledged_at is null) = (acknowledged_by is null))
);
-- Of what it is, there is one alarm at a time, however many processes look.
create unique index open_alarm on alarm (organizer, event, kind, gate, device, list) nulls not distinct where ended_at is null;
create index ended_alarm on alarm (ended_at) where ended_at is not null;
comment on column alarm.acknowledged_by is 'personal data: kept; what the person, the key or the device is called that has acknowledged the alarm';
alter table alarm alter column acknowledged_by set statistics 0;

-- Scans that devices have still to upload, as the gateway was told. A row is kept for some minutes.
create table device_queue (
  organizer text collate "C" not null,
  device bigint not null,
  told_at timestamptz not null default now(),
  queue bigint not null,
  -- The events that the device is for; null: all of its organizer.
  events text[],
  primary key (organizer, device, told_at)
);
