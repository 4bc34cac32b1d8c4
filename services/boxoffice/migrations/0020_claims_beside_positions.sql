--! breaking
-- Why: a voucher and the positions that use it take the same place, but its claim followed only when voucher had counted them.
-- So a claim says how often its voucher can be used, and positions take off their uses in the statement that stores them.

create table claim_of_voucher (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  item bigint,
  variation bigint,
  quota bigint,
  subevent bigint,
  -- Null: nothing was told of the voucher, or it was deleted.
  max_usages bigint,
  -- Whether it takes quota, as long as it can be used.
  blocks boolean not null default false,
  -- How often it was used by what is no position here.
  uses_elsewhere bigint not null default 0,
  -- Its record contains what was there before.
  counted_as_of_at timestamptz,
  -- By positions that take capacity. It is no part of what is told.
  uses bigint not null default 0,
  valid_until_at timestamptz,
  -- The guid of the seat that it claims, as long as it can be used.
  seat text collate "C",
  revision bigint not null,
  known_columns integer not null default 0
);

create table claim_of_hold (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  hold uuid not null,
  item bigint,
  variation bigint,
  quota bigint,
  subevent bigint,
  -- How often the voucher can be used, also what it was used for; 0: it takes no quota.
  usages bigint not null,
  valid_until_at timestamptz,
  seat text collate "C",
  based_on bigint not null default 0
);

-- What was told does not say how often a voucher was used; what it takes is the same.
insert into claim_of_voucher (organizer, event, id, item, variation, quota, subevent, max_usages, blocks, uses,
                              valid_until_at, seat, revision, known_columns)
select coalesce(claim.organizer, used.organizer), coalesce(claim.event, used.event), coalesce(claim.id, used.voucher),
       claim.item, claim.variation, claim.quota, claim.subevent,
       case when claim.id is not null then greatest(claim.amount, (claim.seat is not null)::integer) + coalesce(used.uses, 0) end,
       coalesce(claim.amount > 0, false),
       coalesce(used.uses, 0), claim.valid_until_at, claim.seat, coalesce(claim.revision, 0),
       coalesce(claim.known_columns, 2147483647)
  from voucher_claim as claim
  full join (select position.organizer, position.event, position.voucher, count(*) as uses
               from position
              where position.voucher is not null
                and position.taken_as is not null
              group by position.organizer, position.event, position.voucher) as used
    on used.organizer = claim.organizer and used.event = claim.event and used.voucher = claim.id;

insert into claim_of_hold (organizer, event, voucher, hold, item, variation, quota, subevent, usages, valid_until_at, seat, based_on)
select held.organizer, held.event, held.voucher, held.hold, held.item, held.variation, held.quota, held.subevent,
       case when held.amount > 0 then held.amount + coalesce(claim.uses, 0) else 0 end, held.valid_until_at, held.seat,
       held.based_on
  from held_claim as held
  left join claim_of_voucher as claim
    on claim.organizer = held.organizer and claim.event = held.event and claim.id = held.voucher;

drop table voucher_claim;
drop table held_claim;

alter table claim_of_voucher add constraint voucher_claim_pkey primary key (organizer, event, id);
create index voucher_claim_taking on claim_of_voucher (organizer, event, subevent, quota, item, variation)
  include (max_usages, uses_elsewhere, uses, valid_until_at)
  where blocks and max_usages > greatest(uses_elsewhere + uses, 0);
create index voucher_claim_by_seat on claim_of_voucher (organizer, event, seat, coalesce(subevent, 0))
  where seat is not null and max_usages > greatest(uses_elsewhere + uses, 0);
alter table claim_of_voucher rename to voucher_claim;

alter table claim_of_hold add constraint held_claim_pkey primary key (organizer, event, voucher, hold);
create index held_claim_by_hold on claim_of_hold (hold);
create index held_claim_by_seat on claim_of_hold (organizer, event, seat, coalesce(subevent, 0)) where seat is not null;
alter table claim_of_hold rename to held_claim;
