-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findCase, of the organizer
select shred_case.organizer, shred_case.event, shred_case.id, shred_case.file, shred_case.export, shred_case.credential,
       shred_case.kinds, shred_case.instance, shred_case.export_sha256 as "exportSha256", shred_case.exported_at as "exportedAt",
       shred_case.export_made_at as "exportMadeAt", shred_case.requested_by as "requestedBy",
       shred_case.started_at as "startedAt",
       (extract(epoch from clock_timestamp() - coalesce(shred_case.requested_at, shred_case.started_at)) * 1000)::float8 as "ageMs",
       shred_case.requested_at as "requestedAt", shred_case.erased_at as "erasedAt",
       shred_case.failed_at as "failedAt", shred_case.event_gone_at as "eventGoneAt",
       shred_case.problem,
       shred_case.parts
  from shred_case
 where shred_case.organizer = $1
   and shred_case.id = $2::uuid
   and true;

-- findCase, of an event
select shred_case.organizer, shred_case.event, shred_case.id, shred_case.file, shred_case.export, shred_case.credential,
       shred_case.kinds, shred_case.instance, shred_case.export_sha256 as "exportSha256", shred_case.exported_at as "exportedAt",
       shred_case.export_made_at as "exportMadeAt", shred_case.requested_by as "requestedBy",
       shred_case.started_at as "startedAt",
       (extract(epoch from clock_timestamp() - coalesce(shred_case.requested_at, shred_case.started_at)) * 1000)::float8 as "ageMs",
       shred_case.requested_at as "requestedAt", shred_case.erased_at as "erasedAt",
       shred_case.failed_at as "failedAt", shred_case.event_gone_at as "eventGoneAt",
       shred_case.problem,
       shred_case.parts
  from shred_case
 where shred_case.organizer = $1
   and shred_case.id = $2::uuid
   and shred_case.organizer = $3 and shred_case.event = $4 and shred_case.event_gone_at is null;

-- nextRequested, the first
select shred_case.organizer, shred_case.event, shred_case.id, shred_case.kinds, shred_case.requested_at as "requestedAt"
  from shred_case
 where shred_case.requested_at is not null
   and shred_case.event_gone_at is null
   and true
 order by shred_case.organizer, shred_case.event, shred_case.id
 limit $1;

-- nextRequested, others
select shred_case.organizer, shred_case.event, shred_case.id, shred_case.kinds, shred_case.requested_at as "requestedAt"
  from shred_case
 where shred_case.requested_at is not null
   and shred_case.event_gone_at is null
   and (shred_case.organizer, shred_case.event, shred_case.id) > ($1, $2, $3::uuid)
 order by shred_case.organizer, shred_case.event, shred_case.id
 limit $4;

-- pageErased
select shred_case.organizer, shred_case.event, shred_case.id, shred_case.kinds, shred_case.erased_at as "erasedAt"
  from shred_case
 where shred_case.organizer = $1
   and shred_case.credential = 'retention'
   and shred_case.erased_at is not null
   and shred_case.event_gone_at is null
 order by shred_case.erased_at desc, shred_case.id
 limit $2
offset $3;
