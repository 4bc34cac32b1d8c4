-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findHeardDevices
select contact.device, credential.name, (credential.device ->> 'gate')::bigint as gate,
       (extract(epoch from contact.seen_at) * 1000000)::bigint as "seenAt",
       (extract(epoch from contact.synced_at) * 1000000)::bigint as "syncedAt",
       contact.queue, contact.battery
  from device_contact as contact
  join credential
    on credential.organizer = contact.organizer
       and credential.kind = 'device'
       and credential.id = contact.device::text
 where contact.seen_at > now() - interval '12 hours'
   and credential.active
   and contact.organizer = $1
   and (credential.all_events or $2 = any(credential.events))
 order by contact.seen_at desc
 limit $3;

-- findQueues
select contact.organizer, contact.device, contact.queue,
       case when not credential.all_events then credential.events end as events
  from device_contact as contact
  join credential
    on credential.organizer = contact.organizer
       and credential.kind = 'device'
       and credential.id = contact.device::text
 where contact.seen_at > now() - interval '12 hours'
   and credential.active
   and contact.seen_at > now() - interval '5 minutes'
   and contact.queue > 0
 order by contact.queue desc, contact.organizer, contact.device
 limit $1;

-- summarizeGates
select contact.organizer, (credential.device ->> 'gate')::bigint as gate,
       extract(epoch from now() - min(contact.seen_at))::float8 as "silentSeconds",
       extract(epoch from now() - min(contact.synced_at))::float8 as "syncedSeconds",
       coalesce(sum(contact.queue), 0)::bigint as queue, min(contact.battery) as battery
  from device_contact as contact
  join credential
    on credential.organizer = contact.organizer
       and credential.kind = 'device'
       and credential.id = contact.device::text
 where contact.seen_at > now() - interval '12 hours'
   and credential.active
 group by contact.organizer, 2
 order by contact.organizer, 2
 limit $1;

-- findTroubledDevices
select heard.organizer, heard.device, heard.name, heard.gate, heard."silentSeconds", heard."syncedSeconds",
       heard.queue, heard.battery, heard.trouble
  from (
    select contact.organizer, contact.device, credential.name, (credential.device ->> 'gate')::bigint as gate,
           extract(epoch from now() - contact.seen_at)::float8 as "silentSeconds",
           extract(epoch from now() - contact.synced_at)::float8 as "syncedSeconds", contact.queue, contact.battery,
           case when contact.seen_at < now() - interval '10 minutes' then case when contact.queue > 0 then 'silent' end
                when contact.battery <= 10 then 'battery'
                when contact.synced_at < now() - interval '10 minutes' then 'behind' end as trouble
      from device_contact as contact
      join credential
        on credential.organizer = contact.organizer
           and credential.kind = 'device'
           and credential.id = contact.device::text
     where contact.seen_at > now() - interval '12 hours'
       and credential.active) as heard
 where heard.trouble is not null
 order by heard.queue desc nulls last, heard.organizer, heard.device
 limit $1;
