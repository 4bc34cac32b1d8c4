-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findOfPositions
select current_file.position, current_file.question, current_file."fileKey", current_file.name,
       current_file."contentType", current_file.size, current_file.sha256
  from (select answer_file.organizer, answer_file.event, answer_file.position, answer_file.question,
               answer_file.file_key as "fileKey", answer_file.name, answer_file.content_type as "contentType",
               answer_file.size, encode(answer_file.sha256, 'hex') as sha256
          from answer_file
         where not exists (select
                             from gate_answer
                            where gate_answer.organizer = answer_file.organizer
                              and gate_answer.event = answer_file.event
                              and gate_answer.position = answer_file.position
                              and gate_answer.question = answer_file.question
                              and gate_answer.revision is not null)
         union all
        select gate_answer.organizer, gate_answer.event, gate_answer.position, gate_answer.question,
               gate_answer.file ->> 'fileKey', gate_answer.file ->> 'name', gate_answer.file ->> 'contentType',
               (gate_answer.file ->> 'size')::bigint, gate_answer.file ->> 'sha256'
          from gate_answer
         where gate_answer.file is not null) as current_file
 where current_file.organizer = $1
   and current_file.event = $2
   and current_file.position = any($3::bigint[]);

-- findNamed
select current_file."fileKey"
  from (select answer_file.organizer, answer_file.event, answer_file.position, answer_file.question,
               answer_file.file_key as "fileKey", answer_file.name, answer_file.content_type as "contentType",
               answer_file.size, encode(answer_file.sha256, 'hex') as sha256
          from answer_file
         where not exists (select
                             from gate_answer
                            where gate_answer.organizer = answer_file.organizer
                              and gate_answer.event = answer_file.event
                              and gate_answer.position = answer_file.position
                              and gate_answer.question = answer_file.question
                              and gate_answer.revision is not null)
         union all
        select gate_answer.organizer, gate_answer.event, gate_answer.position, gate_answer.question,
               gate_answer.file ->> 'fileKey', gate_answer.file ->> 'name', gate_answer.file ->> 'contentType',
               (gate_answer.file ->> 'size')::bigint, gate_answer.file ->> 'sha256'
          from gate_answer
         where gate_answer.file is not null) as current_file
 where current_file."fileKey" = any($1::text[]);
