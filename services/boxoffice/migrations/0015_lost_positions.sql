-- Why: an order that takes over a position of an older one is as old as that, also where the older one has lost the position in
-- an earlier import. Rows are of events of which something was erased, and no others.
create table lost_position (
  organizer text collate "C" not null,
  event text collate "C" not null,
  id bigint not null,
  -- When its order was placed.
  placed_at timestamptz not null,
  primary key (organizer, event, id),
  foreign key (organizer, event) references event (organizer, slug) on delete cascade
);
