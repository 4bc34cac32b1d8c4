-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- keepNamed
update upload
   set named_at = $1,
       event = case when not first.is_erased then first.event end,
       expires_at = case when first.is_erased
                         then $2::timestamptz
                         else greatest(upload.expires_at, $3::timestamptz) end
  from (select distinct on (told.organizer, told.upload) told.organizer, told.event, told.upload, told.is_erased
          from (select answer.organizer, answer.event, answer.upload,
                       exists (select from erasure
                                where erasure.organizer = answer.organizer
                                  and erasure.event = answer.event
                                  and erasure.is_taken_on
                                  and erasure.kinds && $4::text[]) as is_erased
                  from unnest($5::text[],
                              $6::text[],
                              $7::uuid[]) as answer (organizer, event, upload)) as told
         order by told.organizer, told.upload, told.is_erased) as first
 where upload.id = first.upload
   and upload.organizer = first.organizer
   and (upload.named_at is null or (upload.event is null and not first.is_erased));

-- keepNamed
insert into further_naming (upload, event)
select upload.id, told.event
  from upload
  join (select answer.organizer, answer.event, answer.upload,
               exists (select from erasure
                        where erasure.organizer = answer.organizer
                          and erasure.event = answer.event
                          and erasure.is_taken_on
                          and erasure.kinds && $1::text[]) as is_erased
          from unnest($2::text[],
                      $3::text[],
                      $4::uuid[]) as answer (organizer, event, upload)) as told
    on upload.id = told.upload and upload.organizer = told.organizer
 where upload.event <> told.event
   and not told.is_erased
   for key share of upload
    on conflict do nothing;

-- expireDropped
update upload
   set named_at = $1, expires_at = $2
 where upload.id = any ($3::uuid[])
   and upload.organizer = $4
   and upload.named_at is null
   and exists (select from erasure
                where erasure.organizer = $5
                  and erasure.event = $6
                  and erasure.is_taken_on
                  and erasure.kinds && $7::text[]);

-- countOutstanding
select count(*) as files, coalesce(sum(size), 0)::bigint as size,
       count(*) filter (where credential_kind = $1 and credential_id = $2) as own_files,
       coalesce(sum(size) filter (where credential_kind = $3 and credential_id = $4), 0)::bigint as own_size
  from upload
 where organizer = $5
   and named_at is null
   and expires_at > $6;

-- lockOfEvent
select upload.id
  from upload
 where upload.organizer = $1
   and (upload.event = $2
        or exists (select
                     from further_naming
                    where further_naming.upload = upload.id
                      and further_naming.event = $3))
 order by upload.id
 limit $4
   for update of upload;

-- countOfEvent
select count(*) as count
  from upload
 where upload.organizer = $1
   and (upload.event = $2
        or exists (select
                     from further_naming
                    where further_naming.upload = upload.id
                      and further_naming.event = $3));
