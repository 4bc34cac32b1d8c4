-- Why: devices are numbered by organizer. The number of a device that was
-- deleted is not given again, because its scans have it.
alter table organizer add column last_device bigint not null default 0;
update organizer
   set last_device = numbered.last
  from (select credential.organizer, max((credential.data ->> 'device_id')::bigint) as last
          from credential
         where credential.kind = 'device'
         group by credential.organizer) as numbered
 where organizer.slug = numbered.organizer;
