-- Why: devices of records and devices that are created here are numbered alike.
-- A record must not take the place of a scanner that works.
alter table credential add column made_here boolean not null default false;
