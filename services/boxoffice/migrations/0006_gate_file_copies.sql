--! breaking
-- Why: copies of files given at a gate are work like any other. Since a row of
-- work says which answer awaits its file, the answer need not say when it is tried next.
insert into work (kind, id, owner, turn, most_tries, keep, payload)
select 'copy-gate-file', gen_random_uuid()::text, gate_answer.organizer,
       row_number() over (partition by gate_answer.organizer order by gate_answer.copy_at), 2147483647, interval '0',
       convert_to(json_build_object('organizer', gate_answer.organizer, 'event', gate_answer.event,
                                    'position', gate_answer.position, 'question', gate_answer.question,
                                    'revision', gate_answer.awaited_revision)::text, 'UTF8')
  from gate_answer
 where gate_answer.awaited is not null;

-- With its index, and the constraint that names it.
alter table gate_answer drop column copy_at;
alter table gate_answer add constraint gate_answer_state check (
  (answer is not null or awaited is not null)
  and (awaited is null) = (awaited_revision is null)
);
