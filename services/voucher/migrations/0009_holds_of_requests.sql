-- Why: a request that comes again, while its first attempt holds capacity or was killed with it, does not stand in its own way.

-- Of the request that asked for it, where it names one.
alter table asked_hold add column request_id uuid;
