-- Why: every setting says which organizer has made it; one that does not is of a former organizer, and is deleted when it is read.
alter table retention add constraint retention_of_organizer check (organizer_created_at is not null) not valid;
