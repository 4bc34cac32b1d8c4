-- Why: vouchers take capacity and seats, and no two of them may take the same.
--
-- `voucher_claim` has what each voucher takes, as its facts say. `held_claim` has what vouchers that are being created or
-- changed will take: a hold ends when a fact confirms it, or when it is released. Of each quota a voucher takes the
-- greatest amount among its rows in both. No row has a foreign key: ten thousand of them are inserted at a time. The
-- transaction that inserts them locks the event first, so an event that is being removed gets no more.

create table voucher_claim (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  item bigint,
  variation bigint,
  quota bigint,
  subevent bigint,
  -- How often it can still be used; 0: it takes no quota.
  amount bigint not null,
  -- It takes nothing behind this instant.
  valid_until_at timestamptz,
  -- The guid of the seat that it claims.
  seat text collate "C",
  revision bigint not null,
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);
-- Most vouchers of an event take nothing.
create index voucher_claim_taking on voucher_claim (organizer, event, subevent, quota, item, variation)
  include (amount, valid_until_at)
  where amount > 0;
create index voucher_claim_by_seat on voucher_claim (organizer, event, seat, coalesce(subevent, 0))
  where seat is not null;

-- Every hold that was asked for. It outlives its claims by a day, so a repeated request takes nothing twice, and a late
-- one nothing after the release.
create table capacity_hold (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id uuid not null,
  is_released boolean not null default false,
  -- ticketing.boxoffice.v1.HoldCapacityResponse. Null: it was released before it was asked for.
  answer bytea,
  changed_at timestamptz not null default clock_timestamp(),
  primary key (organizer, event, id)
);
create index capacity_hold_by_age on capacity_hold (changed_at);

create table held_claim (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  hold uuid not null,
  item bigint,
  variation bigint,
  quota bigint,
  subevent bigint,
  amount bigint not null,
  valid_until_at timestamptz,
  seat text collate "C",
  primary key (organizer, event, voucher, hold)
);
create index held_claim_by_hold on held_claim (hold);
create index held_claim_by_seat on held_claim (organizer, event, seat, coalesce(subevent, 0))
  where seat is not null;
