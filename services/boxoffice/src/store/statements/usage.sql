-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findUsers, organizer
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'events' as users where exists (select from event where event.organizer = wanted.key)) as used
 group by wanted.key;

-- findUsers, sales_channel
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'orders' as users where exists (
         select
           from "order"
          where "order".organizer = $2
            and "order".data ->> 'sales_channel' = wanted.key
            and wanted.key <> 'web')) as used
 group by wanted.key;

-- findUsers, gate
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'devices' as users where exists (
         select
           from credential
          where credential.organizer = $2
            and credential.kind = 'device'
            and credential.data -> 'gate' = to_jsonb(wanted.key::bigint))) as used
 group by wanted.key;

-- findUsers, subevent
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'quotas' as users
                 where exists (select
                                 from "quota"
                                where "quota".organizer = $2
                                  and "quota".event = $3 and (quota.data -> 'subevent' = to_jsonb(wanted.key::bigint)))
                 union all
                select 'seats' as users
                 where exists (select
                                 from "seat" where "seat".organizer = $4 and "seat".event = $5 and (seat.subevent = wanted.key::bigint))
                 union all
                select 'positions' as users
                 where exists (select
                                 from "position"
                                where "position".organizer = $6
                                  and "position".event = $7 and (position.subevent = wanted.key::bigint))) as used
 group by wanted.key;

-- findUsers, tax_rule
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'items' as users
                 where exists (select
                                 from "item"
                                where "item".organizer = $2
                                  and "item".event = $3 and (item.data -> 'tax_rule' = to_jsonb(wanted.key::bigint)))
                 union all
                select 'orders' as users
                 where exists (select
                                 from "order"
                                where "order".organizer = $4
                                  and "order".event = $5
                                  and (("order".data -> 'positions' @> jsonb_build_array(jsonb_build_object('tax_rule', wanted.key::bigint))
                                        or "order".data -> 'fees' @> jsonb_build_array(jsonb_build_object('tax_rule',
                                                                                                          wanted.key::bigint)))))) as used
 group by wanted.key;

-- findUsers, category
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'items' as users
                 where exists (select
                                 from "item"
                                where "item".organizer = $2
                                  and "item".event = $3
                                  and (item.data -> 'category' = to_jsonb(wanted.key::bigint)
                                       or item.data -> 'addons' @> jsonb_build_array(jsonb_build_object('addon_category',
                                                                                                        wanted.key::bigint))))) as used
 group by wanted.key;

-- findUsers, item
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'other items' as users
                 where exists (select
                                 from "item"
                                where "item".organizer = $2
                                  and "item".event = $3
                                  and (item.data -> 'bundles' @> jsonb_build_array(jsonb_build_object('bundled_item', wanted.key::bigint))
                                       and item.id <> wanted.key::bigint))
                 union all
                select 'questions' as users
                 where exists (select
                                 from "question"
                                where "question".organizer = $4
                                  and "question".event = $5 and (question.data -> 'items' @> to_jsonb(wanted.key::bigint)))
                 union all
                select 'seats' as users
                 where exists (select
                                 from "seat"
                                where "seat".organizer = $6
                                  and "seat".event = $7 and (seat.data -> 'product' = to_jsonb(wanted.key::bigint)))
                 union all
                select 'quotas' as users
                 where exists (select
                                 from "quota"
                                where "quota".organizer = $8
                                  and "quota".event = $9 and (quota.data -> 'items' @> to_jsonb(wanted.key::bigint)))
                 union all
                select 'positions' as users
                 where exists (select
                                 from "position"
                                where "position".organizer = $10
                                  and "position".event = $11 and (position.item = wanted.key::bigint))) as used
 group by wanted.key;

-- findUsers, variation
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'items' as users
                 where exists (select
                                 from "item"
                                where "item".organizer = $2
                                  and "item".event = $3
                                  and (item.data -> 'bundles' @> jsonb_build_array(jsonb_build_object('bundled_variation',
                                                                                                      wanted.key::bigint))))
                 union all
                select 'quotas' as users
                 where exists (select
                                 from "quota"
                                where "quota".organizer = $4
                                  and "quota".event = $5 and (quota.data -> 'variations' @> to_jsonb(wanted.key::bigint)))
                 union all
                select 'positions' as users
                 where exists (select
                                 from "position"
                                where "position".organizer = $6
                                  and "position".event = $7 and (position.variation = wanted.key::bigint))) as used
 group by wanted.key;

-- findUsers, question
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'answers in orders' as users
                 where exists (select
                                 from "order"
                                where "order".organizer = $2
                                  and "order".event = $3
                                  and ("order".data -> 'positions' @> jsonb_build_array(jsonb_build_object('answers',
                                                                                                           jsonb_build_array(jsonb_build_object('question',
                                                                                                                                                wanted.key::bigint))))))
                 union all
                select 'answers given at the gate' as users
                 where exists (select
                                 from "gate_answer"
                                where "gate_answer".organizer = $4
                                  and "gate_answer".event = $5
                                  and (gate_answer.question = wanted.key::bigint
                                       and (gate_answer.answer is not null or gate_answer.awaited is not null)))
                 union all
                select 'other questions' as users
                 where exists (select
                                 from "question"
                                where "question".organizer = $6
                                  and "question".event = $7
                                  and (question.data -> 'dependency_question' = to_jsonb(wanted.key::bigint)
                                       and question.id <> wanted.key::bigint))) as used
 group by wanted.key;

-- findUsers, seat
select wanted.key, string_agg(used.users, ' and ' order by used.users) as users
  from unnest($1::text[]) as wanted (key),
       lateral (select 'positions' as users
                 where exists (select
                                 from "position"
                                where "position".organizer = $2 and "position".event = $3 and (position.seat = wanted.key::bigint))) as used
 group by wanted.key;
