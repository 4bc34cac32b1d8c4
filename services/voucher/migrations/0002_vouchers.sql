-- Why: vouchers belong to voucher. Their ids and codes are unique per event.

-- Vouchers that are made here have ids from a range of their own: records may not bring any of them.
create sequence voucher_id start with 1000000000001 minvalue 1000000000001;

-- Revisions of one voucher only rise, also across its removal.
create sequence revision_seq;

create table voucher (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  -- In upper case.
  code text collate "C" not null,
  max_usages bigint not null,
  min_usages bigint not null,
  valid_until_at timestamptz,
  block_quota boolean not null,
  allow_ignore_quota boolean not null,
  price_mode text not null check (price_mode in ('none', 'set', 'subtract', 'percent')),
  value numeric(13, 2),
  item bigint,
  variation bigint,
  quota bigint,
  seat text,
  tag text collate "C" not null,
  comment text not null,
  subevent bigint,
  show_hidden_items boolean not null,
  all_addons_included boolean not null,
  all_bundles_included boolean not null,
  budget numeric(13, 2),
  created_at timestamptz not null,
  redeemed bigint not null,
  budget_used numeric(15, 2) not null,
  -- `redeemed` and `budget_used` of a record contain the orders before this moment; null: it was made here.
  counted_as_of_at timestamptz,
  primary key (organizer, event, id)
);
comment on column voucher.comment is 'personal data: what the organizer noted';
create unique index voucher_by_code on voucher (organizer, event, code);
create index voucher_by_tag on voucher (organizer, event, tag, id) where tag <> '';
create index voucher_by_item on voucher (organizer, event, item, id) where item is not null;
create index voucher_by_quota on voucher (organizer, event, quota, id) where quota is not null;
create index voucher_by_subevent on voucher (organizer, event, subevent, id) where subevent is not null;

-- A hold of capacity in boxoffice that was asked for. It is remembered before it is asked for. The transaction that
-- stores its vouchers deletes the row, and their facts confirm the hold; otherwise the hold is released.
create table asked_hold (
  hold uuid primary key,
  organizer text collate "C" not null,
  event text collate "C" not null,
  asked_at timestamptz not null default now(),
  -- No transaction may confirm it any more.
  is_released boolean not null default false
);
create index asked_hold_by_time on asked_hold (asked_at);
