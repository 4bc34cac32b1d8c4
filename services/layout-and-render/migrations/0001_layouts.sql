-- Why: layouts, what they are for, and their backgrounds belong to layout-and-render. Their ids are unique per event.

-- Layouts that are made here have ids from a range of their own: records may not bring any of them.
create sequence layout_id start with 1000000000001 minvalue 1000000000001;
create sequence assignment_id start with 1000000000001 minvalue 1000000000001;

-- Copies of what boxoffice owns. Facts keep them current; `revision` is boxoffice's, and an older one never overwrites a newer one.

create table event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  revision bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event)
);

create table item (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

-- The channel `web` is not among them: it exists everywhere.
create table sales_channel (
  organizer text collate "C" not null,
  identifier text collate "C" not null,
  revision bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, identifier)
);

create table layout (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  name text not null,
  is_default boolean not null,
  -- JSON as it was sent: order of keys, numbers and strings as they were.
  elements text not null,
  -- Names its file in the store for files, and is a part of its public address; null: no background.
  background text collate "C",
  background_size bigint,
  -- In hexadecimal.
  background_sha256 text collate "C",
  primary key (organizer, event, id)
);
create unique index layout_default on layout (organizer, event) where is_default;
create unique index layout_by_background on layout (background) where background is not null;
create index layout_by_name on layout (organizer, event, name, id);

-- A product and a sales channel that a layout is for. It goes with either.
create table assignment (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  layout bigint not null,
  item bigint not null,
  sales_channel text collate "C" not null,
  primary key (organizer, event, id),
  unique (organizer, event, item, sales_channel, layout),
  foreign key (organizer, event, layout) references layout on delete cascade,
  foreign key (organizer, event, item) references item on delete cascade
);
create index assignment_by_layout on assignment (organizer, event, layout, id);

-- Events that were deleted: their layouts stay for a day, unreachable.
create table gone_event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  gone_at timestamptz not null,
  primary key (organizer, event)
);
