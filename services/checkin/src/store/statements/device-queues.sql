-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- noteQueues
delete from device_queue
 where device_queue.told_at < now() - interval '6 minutes'
    or (device_queue.organizer, device_queue.device) not in (
      select sent.organizer, sent.device from unnest($1::text[], $2::bigint[]) as "sent" ("organizer", "device"));

-- noteQueues
insert into device_queue (organizer, device, queue, events)
select sent.organizer, sent.device, sent.queue,
       case when sent.events is not null then array(select jsonb_array_elements_text(sent.events)) end
  from unnest($1::text[], $2::bigint[], $3::bigint[], $4::jsonb[]) as "sent" ("organizer", "device", "queue", "events")
    on conflict (organizer, device, told_at) do nothing;
