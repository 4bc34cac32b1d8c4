-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- upsert
with stored as (
  insert into position as kept (organizer, event, id, order_code, positionid, item, variation, subevent, secret,
                                canceled, seat, taken_as, voucher, budget_use, voucher_since_at,
                                voucher_overtaken_at, left_out, state, earlier_checkins, revision)
  select $1, $2, incoming.id, incoming.order_code, incoming.positionid, incoming.item,
         incoming.variation, incoming.subevent, incoming.secret, incoming.canceled, incoming.seat,
         incoming.taken_as, incoming.voucher, incoming.budget_use, incoming.voucher_since_at,
         incoming.voucher_overtaken_at, incoming.left_out, incoming.state, incoming.earlier_checkins,
         nextval('revision_seq')
    from unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::text[], $10::boolean[], $11::bigint[],
                $12::text[], $13::bigint[], $14::numeric[], $15::timestamptz[], $16::timestamptz[], $17::boolean[], $18::bytea[],
                $19::bytea[]) as "incoming" ("id", "order_code", "positionid", "item", "variation", "subevent", "secret", "canceled",
                                             "seat", "taken_as", "voucher", "budget_use", "voucher_since_at", "voucher_overtaken_at",
                                             "left_out", "state", "earlier_checkins")
   order by incoming.id
      on conflict (organizer, event, id) do update
     set order_code = excluded.order_code,
         positionid = excluded.positionid,
         item = excluded.item,
         variation = excluded.variation,
         subevent = excluded.subevent,
         secret = excluded.secret,
         canceled = excluded.canceled,
         seat = excluded.seat,
         taken_as = excluded.taken_as,
         voucher = excluded.voucher,
         budget_use = excluded.budget_use,
         voucher_since_at = excluded.voucher_since_at,
         voucher_overtaken_at = excluded.voucher_overtaken_at,
         left_out = excluded.left_out,
         state = excluded.state,
         earlier_checkins = coalesce(excluded.earlier_checkins, kept.earlier_checkins),
         revision = nextval('revision_seq')
   where kept.state <> excluded.state
      or kept.seat is distinct from excluded.seat
      or kept.taken_as is distinct from excluded.taken_as
      or kept.left_out <> excluded.left_out
      or kept.voucher_overtaken_at is distinct from excluded.voucher_overtaken_at
      or kept.earlier_checkins is distinct from coalesce(excluded.earlier_checkins, kept.earlier_checkins)
  returning kept.organizer, kept.event, kept.id, kept.subevent, kept.item, kept.variation, kept.taken_as,
         kept.revision, kept.earlier_checkins, kept.answers_revision
), counted as (
  insert into taken_capacity as kept (organizer, event, subevent, item, variation, taken_as, positions)
  select $20, $21, change.subevent, change.item, change.variation, change.taken_as, sum(change.positions)
    from (
      select stored.subevent, stored.item, stored.variation, stored.taken_as, 1 as positions
        from stored
       union all
      select before.subevent, before.item, before.variation, before.taken_as, -1
        from stored
       cross join lateral (select before.id, before.subevent, before.item, before.variation, before.taken_as
                             from position as before
                            where (before.organizer, before.event, before.id) >= ($22, $23, stored.id)
                              and (before.organizer, before.event, before.id) <= ($24, $25, stored.id)
                            order by before.organizer, before.event, before.id
                            limit 1) as before) as change
   where change.taken_as is not null
   group by change.subevent, change.item, change.variation, change.taken_as
  having sum(change.positions) <> 0
      on conflict (organizer, event, subevent, item, variation, taken_as) do update
     set positions = kept.positions + excluded.positions)
select stored.id, stored.revision as revision, stored.earlier_checkins as "earlierCheckins",
       case when stored.answers_revision is not null then
       jsonb_build_object('upTo', stored.answers_revision, 'answers', array(
         select jsonb_build_object('question', gate_answer.question, 'revision', gate_answer.revision,
                                   'answer', encode(gate_answer.answer, 'base64'), 'file', gate_answer.file,
                                   'awaitedRevision', gate_answer.awaited_revision)
           from gate_answer
          where gate_answer.organizer = stored.organizer
            and gate_answer.event = stored.event
            and gate_answer.position = stored.id))
       end as gate
  from stored;

-- find
select position.organizer, position.event, position.state, position.id, position.revision as revision,
       position.earlier_checkins as "earlierCheckins",
       case when position.answers_revision is not null then
       jsonb_build_object('upTo', position.answers_revision, 'answers', array(
         select jsonb_build_object('question', gate_answer.question, 'revision', gate_answer.revision,
                                   'answer', encode(gate_answer.answer, 'base64'), 'file', gate_answer.file,
                                   'awaitedRevision', gate_answer.awaited_revision)
           from gate_answer
          where gate_answer.organizer = position.organizer
            and gate_answer.event = position.event
            and gate_answer.position = position.id))
       end as gate, position.made_at as "madeAt"
  from unnest($1::text[], $2::text[], $3::bigint[]) as "wanted" ("organizer", "event", "id")
 cross join lateral (
   select position.organizer, position.event, position.id, position.state, position.revision,
          position.earlier_checkins, position.answers_revision, position.made_at
     from position
    where (position.organizer, position.event, position.id) >= (wanted.organizer, wanted.event, wanted.id)
      and (position.organizer, position.event, position.id) <= (wanted.organizer, wanted.event, wanted.id)
    order by position.organizer, position.event, position.id
    limit 1) as position;

-- deletePositions
with removed as (
  delete from position
   where position.organizer = $1
     and position.event = $2
     and position.id = any($3::bigint[])
  returning position.id, position.subevent, position.item, position.variation, position.taken_as, position.state
), counted as (
  insert into taken_capacity as kept (organizer, event, subevent, item, variation, taken_as, positions)
  select $4, $5, change.subevent, change.item, change.variation, change.taken_as, sum(change.positions)
    from (
      select removed.subevent, removed.item, removed.variation, removed.taken_as, -1 as positions
        from removed) as change
   where change.taken_as is not null
   group by change.subevent, change.item, change.variation, change.taken_as
  having sum(change.positions) <> 0
      on conflict (organizer, event, subevent, item, variation, taken_as) do update
     set positions = kept.positions + excluded.positions)
select removed.id, case when exists (select from erasure
                                      where erasure.organizer = $6
                                        and erasure.event = $7
                                        and erasure.is_taken_on
                                        and cardinality(erasure.kinds) > 0) then removed.state end as state
  from removed;
