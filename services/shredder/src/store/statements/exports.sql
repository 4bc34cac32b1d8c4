-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- storeFile
update export
   set file_key = $1, sha256 = $2, made_at = clock_timestamp()
 where export.organizer = $3 and export.event = $4 and export.id = $5::uuid
   and not exists (select
                     from shred_case
                    where shred_case.organizer = export.organizer and shred_case.event = export.event and shred_case.event_gone_at is null
                      and (shred_case.export = export.id or shred_case.kinds && export.kinds)
                      and shred_case.requested_at is not null
                      and coalesce(shred_case.erased_at, now()) > export.started_at);
