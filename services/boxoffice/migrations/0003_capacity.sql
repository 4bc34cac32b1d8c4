-- Why: how much of a quota is taken must be known without counting positions.
--
-- One row for what is taken of one product on one date. Who stores or removes
-- positions adds to these rows in the same transaction, under the lock of their
-- event; a quota's availability is derived from them, so a quota that changes
-- touches none. A program that does not know this table may still run: what it
-- stores counts from when it is sent again.

-- Null: takes nothing.
alter table position add column taken_as text check (taken_as in ('paid', 'pending'));

create table taken_capacity (
  organizer text collate "C" not null,
  event text collate "C" not null,
  subevent bigint,
  item bigint not null,
  variation bigint,
  taken_as text not null check (taken_as in ('paid', 'pending')),
  -- Rows of nothing stay. No check holds it above zero: an import is not to
  -- fail for lack of capacity, and least of all for a wrong count of it.
  positions bigint not null,
  constraint taken_capacity_key
    unique nulls not distinct (organizer, event, subevent, item, variation, taken_as),
  -- Also where a program removes the event that does not know this table.
  foreign key (organizer, event) references event on delete cascade
);

update position
   set taken_as = case "order".status when 'p' then 'paid' else 'pending' end
  from "order"
 where "order".organizer = position.organizer
   and "order".event = position.event
   and "order".code = position.order_code
   and "order".status in ('p', 'n')
   and not position.canceled;

insert into taken_capacity (organizer, event, subevent, item, variation, taken_as, positions)
select position.organizer, position.event, position.subevent, position.item, position.variation, position.taken_as, count(*)
  from position
 where position.taken_as is not null
 group by position.organizer, position.event, position.subevent, position.item, position.variation, position.taken_as;
