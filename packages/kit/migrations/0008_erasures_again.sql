-- Why: what an erasure has left must be erased again, and a fact that fails after an erasure must be parked without what it says.

-- How often the erasure was begun again after its end.
alter table erasure add column rounds integer not null default 0;

-- True: the payload is null because it was not stored; such a fact cannot be replayed.
alter table dead_letter add column is_emptied boolean not null default false;
