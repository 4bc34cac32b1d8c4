-- Why: a batch of tickets that are sold outside of the shop belongs to offline-sales; its orders belong to boxoffice.

create sequence batch_id;

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
  variations bigint[] not null,
  revision bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);
create index item_by_variation on item using gin (variations);

create table subevent (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);

create table batch (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  -- The job that made it, and the sale in boxoffice.
  job uuid not null unique,
  created_at timestamptz not null,
  testmode boolean not null,
  sales_channel text collate "C" not null,
  layout bigint not null,
  subevent bigint,
  item bigint not null,
  variation bigint,
  amount integer not null,
  comment text not null,
  -- Codes of orders and ids of positions, in the order in which they were made.
  orders text[] not null,
  positions bigint[] not null,
  canceled_at timestamptz,
  primary key (organizer, event, id)
);
comment on column batch.comment is 'personal data: what the organizer noted';
create index batch_by_creation on batch (organizer, event, created_at, id);

-- Renderings of batches; their jobs and files belong to layout-and-render.
create table rendering (
  organizer text collate "C" not null,
  event text collate "C" not null,
  batch bigint not null,
  job uuid not null,
  file uuid not null,
  started_at timestamptz not null default now(),
  primary key (organizer, event, batch, job, file),
  foreign key (organizer, event, batch) references batch on delete cascade
);
create index rendering_by_time on rendering (started_at);

-- Events that were deleted: their batches stay for a day, unreachable.
create table gone_event (
  organizer text collate "C" not null,
  event text collate "C" not null,
  gone_at timestamptz not null,
  primary key (organizer, event)
);
