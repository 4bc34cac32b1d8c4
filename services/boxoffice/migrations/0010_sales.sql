-- Why: tickets for box offices are sold here, all of a sale or none, and once however often the sale is asked for.
--
-- A sale is stored by the transaction that makes its orders. The codes and secrets of what was made here are unique by
-- indexes; orders that come in as records are compared with them before they are stored.

-- Ids of positions that are made here: no record has them.
create sequence sold_position_id_seq start with 1000000000001 minvalue 1000000000001;

create table sale (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  -- SHA-256 of what was asked for.
  request_hash bytea not null,
  -- ticketing.boxoffice.v1.SellTicketsResponse.
  answer bytea not null,
  sold_at timestamptz not null default clock_timestamp(),
  canceled_at timestamptz,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event
);

-- Every ticket of a sale, also a canceled one. Without foreign keys: ten thousand are inserted at a time, under the lock of
-- their event.
create table sold_ticket (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  order_code text collate "C" not null,
  secret text collate "C" not null,
  pseudonymization_id text collate "C" not null,
  primary key (organizer, event, position)
);
create unique index sold_ticket_by_code on sold_ticket (organizer, order_code);
create unique index sold_ticket_by_secret on sold_ticket (organizer, secret);
create unique index sold_ticket_by_pseudonym on sold_ticket (pseudonymization_id);
