--! breaking
-- Why: an answer of a record and one of a gate to the same question were merged
-- into `position.state`, and what the record had said was looked up in its order.
--
-- `position.state` holds what the record says and nothing else. `gate_answer` holds
-- what gates said, with the file that a gate sent. They are merged when a position is read.
--
-- What is stored says all of that but for this:
-- * Revisions of single answers were not kept. Each gets the highest that it may have had.
-- * The record's file that a gate's answer replaced was deleted. Its reference stays in
--   the state, and is hidden by the gate's answer like any other answer of the record.
-- * A text of the record that is hidden and looks like a reference is taken for one. No
--   one sees it, but the order may be published once more when it is sent again.

alter table gate_answer add column revision bigint;
alter table gate_answer add column file jsonb;
alter table gate_answer drop constraint gate_answer_state;
comment on column gate_answer.file is 'personal data: name';
comment on table gate_answer is 'personal data: the files themselves, for instance photographs of people';

-- Where the answer of a gate counted, the file beside it was the gate's.
update gate_answer
   set file = jsonb_build_object('fileKey', answer_file.file_key, 'name', answer_file.name,
                                 'contentType', answer_file.content_type, 'size', answer_file.size,
                                 'sha256', encode(answer_file.sha256, 'hex'))
  from answer_file
 where gate_answer.answer is not null
   and answer_file.organizer = gate_answer.organizer
   and answer_file.event = gate_answer.event
   and answer_file.position = gate_answer.position
   and answer_file.question = gate_answer.question;
delete from answer_file
 using gate_answer
 where answer_file.file_key = gate_answer.file ->> 'fileKey';
create unique index gate_answer_file on gate_answer ((file ->> 'fileKey')) where file is not null;

update gate_answer
   set revision = least(position.answers_revision, gate_answer.awaited_revision - 1)
  from position
 where gate_answer.answer is not null
   and position.organizer = gate_answer.organizer
   and position.event = gate_answer.event
   and position.id = gate_answer.position;

create function to_varint(value bigint) returns bytea language plpgsql as $$
declare
  bytes bytea := '';
  rest bigint := value;
begin
  while rest > 127 loop
    bytes := bytes || set_byte('\x00', 0, ((rest & 127) | 128)::integer);
    rest := rest >> 7;
  end loop;
  return bytes || set_byte('\x00', 0, rest::integer);
end
$$;

create function read_varint(bytes bytea, inout at integer, out value bigint) language plpgsql as $$
declare
  shift integer := 0;
begin
  value := 0;
  loop
    value := value | ((get_byte(bytes, at) & 127)::bigint << shift);
    shift := shift + 7;
    at := at + 1;
    exit when get_byte(bytes, at - 1) < 128;
  end loop;
end
$$;

-- A field that holds bytes.
create function to_field(tag bytea, content bytea) returns bytea language sql as $$
  select tag || to_varint(length(content)) || content
$$;

-- ticketing.boxoffice.v1.Answer, out of an answer of a record.
create function to_answer(answer jsonb, is_file boolean) returns bytea language sql as $$
  select '\x08' || to_varint((answer ->> 'question')::bigint)
         || case when coalesce(answer ->> 'answer', '') = '' then ''
                 else to_field('\x12', convert_to(answer ->> 'answer', 'UTF8')) end
         || case when coalesce(answer ->> 'question_identifier', '') = '' then ''
                 else to_field('\x1a', convert_to(answer ->> 'question_identifier', 'UTF8')) end
         || coalesce((select to_field('\x22', string_agg(to_varint(option.id::bigint), '' order by option.at))
                        from jsonb_array_elements_text(answer -> 'options') with ordinality as option (id, at)), '')
         || coalesce((select string_agg(to_field('\x2a', convert_to(option.identifier, 'UTF8')), '' order by option.at)
                        from jsonb_array_elements_text(answer -> 'option_identifiers') with ordinality
                             as option (identifier, at)), '')
         || case when is_file then '\x3001'::bytea else '' end
$$;

do $$
declare
  sold record;
  before bytea;
  behind bytea;
  answers bytea;
  shown bigint[];
  at integer;
  start integer;
  tag bigint;
  value bigint;
begin
  for sold in
    select position.organizer, position.event, position.id, position.state, position.answers_revision,
           jsonb_path_query_array("order".data, '$.positions[*] ? (@.id == $id).answers[*]',
                                  jsonb_build_object('id', position.id)) as recorded
      from position
      join "order"
        on "order".organizer = position.organizer
           and "order".event = position.event
           and "order".code = position.order_code
     where position.answers_revision is not null
  loop
    -- ticketing.boxoffice.v1.Position without `answers` (28) and `answers_revision` (30).
    before := '';
    behind := '';
    shown := '{}';
    at := 0;
    while at < length(sold.state) loop
      start := at;
      select read.at, read.value into at, tag from read_varint(sold.state, at) as read;
      select read.at, read.value into at, value from read_varint(sold.state, at) as read;
      if tag & 7 = 2 then
        at := at + value::integer;
      elsif tag & 7 <> 0 then
        raise exception 'the state of position % of %/% is no position', sold.id, sold.organizer, sold.event;
      end if;
      if tag >> 3 = 28 then
        -- Its question comes first.
        shown := shown || (select read.value from read_varint(sold.state, at - value::integer + 1) as read);
      elsif tag >> 3 < 28 then
        before := before || substring(sold.state from start + 1 for at - start);
      elsif tag >> 3 <> 30 then
        behind := behind || substring(sold.state from start + 1 for at - start);
      end if;
    end loop;

    -- What the record says and the position did not show was removed at a gate.
    insert into gate_answer (organizer, event, position, question, revision)
    select distinct sold.organizer, sold.event, sold.id, (recorded.answer ->> 'question')::bigint, sold.answers_revision
      from jsonb_array_elements(sold.recorded) as recorded (answer)
     where (recorded.answer ->> 'question')::bigint <> all (shown)
        on conflict (organizer, event, position, question) do update
       set revision = gate_answer.awaited_revision - 1
     where gate_answer.revision is null;

    -- A reference is a file where that file is stored, or where no one sees it.
    select string_agg(to_field('\xe201', to_answer(recorded.answer, is_file => recorded.answer ->> 'answer' like 'file:%'
             and (exists (select
                            from answer_file
                           where answer_file.organizer = sold.organizer
                             and answer_file.event = sold.event
                             and answer_file.position = sold.id
                             and answer_file.question = (recorded.answer ->> 'question')::bigint
                             and recorded.answer ->> 'answer'
                                 = format('file:%s;%s;%s', answer_file.content_type, answer_file.size,
                                          encode(answer_file.sha256, 'hex')))
                  or exists (select
                               from gate_answer
                              where gate_answer.organizer = sold.organizer
                                and gate_answer.event = sold.event
                                and gate_answer.position = sold.id
                                and gate_answer.question = (recorded.answer ->> 'question')::bigint
                                and gate_answer.revision is not null)))), '' order by recorded.at)
      into answers
      from jsonb_array_elements(sold.recorded) with ordinality as recorded (answer, at);
    update position
       set state = before || coalesce(answers, '') || behind
     where position.organizer = sold.organizer
       and position.event = sold.event
       and position.id = sold.id;
  end loop;
end
$$;

drop function to_answer;
drop function to_field;
drop function read_varint;
drop function to_varint;

alter table gate_answer add constraint gate_answer_state check (
  (revision is not null or awaited_revision is not null)
  and (answer is null or revision is not null)
  and (file is null or answer is not null)
  and (awaited is null) = (awaited_revision is null)
);
