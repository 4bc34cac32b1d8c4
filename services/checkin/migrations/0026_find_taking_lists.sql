-- Why: each scan asks whether another list takes visitors from its list, and few events have such lists.
--! no-transaction
drop index concurrently if exists list_taking;
--! next
create index concurrently list_taking on list (organizer, event)
 where takes_from <> '{}';
