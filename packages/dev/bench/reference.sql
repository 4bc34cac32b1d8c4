-- One scan in one statement: looks the ticket up, stores the check-in once, and its message for the bus.
\set id random(1, 1000000)
with ticket as (
  select id, item, name from reference.ticket where event = 1 and secret = 't' || lpad(:id::text, 31, '0')
), stored as (
  insert into reference.checkin (event, list, ticket, at)
  select 1, 1, ticket.id, clock_timestamp() from ticket
  on conflict (event, list, ticket) do nothing
  returning ticket
), published as (
  insert into reference.message (key, payload)
  select 'event/1/' || stored.ticket, jsonb_build_object('list', 1, 'ticket', stored.ticket) from stored
)
select ticket.id, ticket.item, ticket.name, stored.ticket is not null as is_new
  from ticket
  left join stored on stored.ticket = ticket.id;
