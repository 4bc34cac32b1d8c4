-- Why: an event is closed before its erasure is requested; a request may be lost, and a case that was taken back must not
-- come back with a call that arrives late.

-- True: the request to erase has arrived. Every case that was noted so far was requested.
alter table erasure add column is_taken_on boolean not null default true;
alter table erasure alter column is_taken_on set default false;

-- True: the case was refused. The row has no kinds, and stays until its event is deleted.
alter table erasure add column is_taken_back boolean not null default false;
