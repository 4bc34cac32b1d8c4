-- Why: a shop holds uses and budget of vouchers for a cart, until it has sold the positions. What is sold becomes a use,
-- which the facts of its position take over.

-- A reservation is kept for a while after its end, so that a repeated call has the same answer.
create table voucher_reservation (
  organizer text collate "C" not null,
  event text collate "C" not null,
  reservation uuid not null,
  state text not null check (state in ('open', 'confirmed', 'released')),
  -- The SHA-256 of the request that was answered, and an encoded ReserveVouchersResponse; null: it was released before it
  -- arrived.
  request bytea,
  answer bytea,
  -- Once it is confirmed, the positions of its uses.
  positions bigint[] not null default '{}',
  -- From this moment on it holds nothing.
  expires_at timestamptz not null,
  primary key (organizer, event, reservation)
);
create index voucher_reservation_by_end on voucher_reservation (expires_at);

-- What open reservations hold. It counts nothing once it has expired.
create table reserved_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  reservation uuid not null,
  -- The place of the use in its reservation.
  place integer not null,
  voucher bigint not null,
  budget numeric(15, 2) not null,
  expires_at timestamptz not null,
  primary key (organizer, event, reservation, place)
);
create index reserved_use_by_voucher on reserved_use (organizer, event, voucher, expires_at);
create index reserved_use_by_end on reserved_use (expires_at);

-- Positions whose use was taken back while its voucher was reserved: a reservation that is confirmed late does not count
-- them again.
create table ended_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  ended_at timestamptz not null default now(),
  primary key (organizer, event, position)
);
create index ended_use_by_time on ended_use (ended_at);

-- The prices of products on this date, which differ from those of the products; null: its last writer did not know them.
alter table subevent add column prices jsonb;
