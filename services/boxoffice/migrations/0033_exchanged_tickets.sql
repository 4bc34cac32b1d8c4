-- Why: gates exchange tickets for media. The shop does not know these links, so its next record of the medium would lose them.
create sequence made_medium_id_seq start with 1000000000001 minvalue 1000000000001;

create table exchanged_ticket (
  organizer text collate "C" not null,
  medium bigint not null,
  event text collate "C" not null,
  position bigint not null,
  primary key (organizer, medium, event, position),
  foreign key (organizer, event, position) references position (organizer, event, id) on delete cascade
);
create index exchanged_ticket_by_position on exchanged_ticket (organizer, event, position);
