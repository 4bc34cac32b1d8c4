--! breaking
-- Why: what a record of a voucher contains is a set of uses, and a use that ends stays in it. So each use says from when on it
-- is as it is, and what it was before stays in `former_use`: a record contains the uses that were there at its moment.

create table current_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  position bigint not null,
  -- Of the position; 0: a shop has confirmed it, and no state of the position has arrived yet.
  revision bigint not null,
  voucher bigint not null,
  -- From when on it is as it is.
  since_at timestamptz not null,
  -- Whether it uses the voucher, and how much of its budget.
  counts boolean not null,
  budget numeric(15, 2) not null,
  primary key (organizer, event, position)
);

-- What positions were for vouchers of records, until a moment.
create table former_use (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  position bigint not null,
  since_at timestamptz not null,
  until_at timestamptz not null,
  counts boolean not null,
  budget numeric(15, 2) not null,
  primary key (organizer, event, voucher, position, until_at)
);
create index former_use_by_position on former_use (organizer, event, position);

-- What the uses of a voucher add to what its record says, and how many of them are of positions that have arrived.
create table use_sum (
  organizer text collate "C" not null,
  event text collate "C" not null,
  voucher bigint not null,
  redeemed bigint not null,
  budget_used numeric(15, 2) not null,
  present bigint not null,
  primary key (organizer, event, voucher)
);

-- A use of which the record contains something else than it is now has changed since the record.
create temporary table changed_use on commit drop as
select voucher_use.organizer, voucher_use.event, voucher_use.voucher, voucher_use.position,
       greatest(now(), voucher.counted_as_of_at) as changed_at
  from voucher_use
  join voucher
    on voucher.organizer = voucher_use.organizer and voucher.event = voucher_use.event and voucher.id = voucher_use.voucher
 where voucher_use.placed_at < voucher.counted_as_of_at
   and (voucher_use.base_counts, voucher_use.base_budget) is distinct from (voucher_use.counts, voucher_use.budget);

insert into former_use (organizer, event, voucher, position, since_at, until_at, counts, budget)
select voucher_use.organizer, voucher_use.event, voucher_use.voucher, voucher_use.position, voucher_use.placed_at,
       changed_use.changed_at, voucher_use.base_counts, voucher_use.base_budget
  from changed_use
  join voucher_use using (organizer, event, voucher, position);

insert into current_use (organizer, event, position, revision, voucher, since_at, counts, budget)
select voucher_use.organizer, voucher_use.event, voucher_use.position, voucher_use.revision, voucher_use.voucher,
       coalesce(changed_use.changed_at, voucher_use.placed_at), voucher_use.counts, voucher_use.budget
  from voucher_use
  left join changed_use using (organizer, event, voucher, position);

insert into use_sum (organizer, event, voucher, redeemed, budget_used, present)
select voucher_use.organizer, voucher_use.event, voucher_use.voucher,
       count(*) filter (where voucher_use.counts) - count(*) filter (where voucher_use.base_counts),
       sum(voucher_use.budget - voucher_use.base_budget),
       count(*) filter (where voucher_use.counts and voucher_use.revision > 0)
  from voucher_use
 group by voucher_use.organizer, voucher_use.event, voucher_use.voucher;

drop table voucher_use;
create index current_use_by_voucher on current_use (organizer, event, voucher);
