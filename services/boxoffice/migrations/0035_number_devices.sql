-- Why: devices are numbered by organizer. The number of a device that was
-- deleted is not given again, because its scans have it.
alter table organizer add column last_device bigint not null default 0;
