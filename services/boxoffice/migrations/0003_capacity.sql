-- Why: how much of a quota is taken must be known without counting positions.
--
-- One row for what is taken of one product on one date. A transaction that stores or removes
-- positions adds to these rows under the lock of their event; a quota's availability is derived
-- from them, so a quota that changes touches none.

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
  foreign key (organizer, event) references event on delete cascade
);
