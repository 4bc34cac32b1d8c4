-- Why: tickets are found by the code of their voucher. Of the vouchers of an event few are ever redeemed, and only those
-- are kept.
create table voucher (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  revision bigint not null,
  -- In upper case. Unique in the event, but the facts of two vouchers may come in any order.
  code text collate "C" not null,
  -- How many columns its last writer knew.
  known_columns integer not null default 0,
  primary key (organizer, event, id)
);
create index voucher_by_code on voucher (organizer, event, code);
