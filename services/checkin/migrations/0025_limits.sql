alter table list
  add column soft_limit bigint,
  add column hard_limit bigint,
  add column takes_from bigint[] not null default '{}';

-- The persons inside of each list with a limit: tickets whose newest scan is an entry, whatever their order is.
create table persons_inside (
  organizer text collate "C" not null,
  event text collate "C" not null,
  list bigint not null,
  persons bigint not null default 0,
  -- False: those who were inside before the list had a limit are not in it yet.
  is_counted boolean not null default false,
  primary key (organizer, event, list)
);

-- In the order of keys, against deadlocks.
create function count_persons() returns trigger
  language plpgsql
  set search_path from current
as $$
begin
  if not exists (select from persons_inside) then
    return null;
  end if;
  perform
    from persons_inside
   where (persons_inside.organizer, persons_inside.event, persons_inside.list)
         in (select changed.organizer, changed.event, changed.list from changed)
   order by persons_inside.organizer, persons_inside.event, persons_inside.list
     for no key update;
  if lower(tg_op) = 'update' then
    update persons_inside
       set persons = persons_inside.persons + difference.persons
      from (select changed.organizer, changed.event, changed.list, sum(changed.sign) as persons
              from (select organizer, event, list, 1 as sign from changed where last_type = 'entry'
                     union all
                    select organizer, event, list, -1 from former where last_type = 'entry') as changed
             group by changed.organizer, changed.event, changed.list
            having sum(changed.sign) <> 0) as difference
     where persons_inside.organizer = difference.organizer
       and persons_inside.event = difference.event
       and persons_inside.list = difference.list;
  else
    update persons_inside
       set persons = persons_inside.persons + difference.persons * case lower(tg_op) when 'delete' then -1 else 1 end
      from (select changed.organizer, changed.event, changed.list, count(*) as persons
              from changed
             where changed.last_type = 'entry'
             group by changed.organizer, changed.event, changed.list) as difference
     where persons_inside.organizer = difference.organizer
       and persons_inside.event = difference.event
       and persons_inside.list = difference.list;
  end if;
  return null;
end
$$;

create trigger presence_counted_when_added after insert on presence
  referencing new table as changed
  for each statement execute function count_persons();
create trigger presence_counted_when_changed after update on presence
  referencing old table as former new table as changed
  for each statement execute function count_persons();
create trigger presence_counted_when_removed after delete on presence
  referencing old table as changed
  for each statement execute function count_persons();
