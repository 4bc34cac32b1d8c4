-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- putDoubleNote
insert into double_note (organizer, event, scan, position, list, explanation, explained_by)
select sent.organizer, sent.event, $1, $2, $3,
       case when not exists (select from erasure
                              where erasure.organizer = sent.organizer
                                and erasure.event = sent.event
                                and erasure.is_taken_on
                                and erasure.kinds && $4::text[]) then $5 end, $6
  from (values ($7::text, $8::text)) as sent (organizer, event)
    on conflict (organizer, event, scan) do update
   set explanation = excluded.explanation, explained_by = excluded.explained_by,
       explained_at = excluded.explained_at;
