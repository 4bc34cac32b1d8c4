-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readFirst
select counted.code, counted.data
  from (select "order".code, "order".data, wanted.nth,
               sum(pg_column_size("order".data)) over (order by wanted.nth) - pg_column_size("order".data) as before,
               sum(jsonb_array_length("order".data -> 'positions')) over (order by wanted.nth) as positions
          from unnest($1::text[]) with ordinality as wanted (code, nth)
         cross join lateral (
           select "order".code, "order".data
             from "order"
            where ("order".organizer, "order".event, "order".code) >= ($2, $3, wanted.code)
              and ("order".organizer, "order".event, "order".code) <= ($4, $5, wanted.code)
            order by "order".organizer, "order".event, "order".code
            limit 1) as "order"
         where true) as counted
 where counted.before = 0
    or (counted.before < $6 and counted.positions <= $7)
 order by counted.nth;

-- readFirst, placed before
select counted.code, counted.data
  from (select "order".code, "order".data, wanted.nth,
               sum(pg_column_size("order".data)) over (order by wanted.nth) - pg_column_size("order".data) as before,
               sum(jsonb_array_length("order".data -> 'positions')) over (order by wanted.nth) as positions
          from unnest($1::text[]) with ordinality as wanted (code, nth)
         cross join lateral (
           select "order".code, "order".data
             from "order"
            where ("order".organizer, "order".event, "order".code) >= ($2, $3, wanted.code)
              and ("order".organizer, "order".event, "order".code) <= ($4, $5, wanted.code)
            order by "order".organizer, "order".event, "order".code
            limit 1) as "order"
         where (("order".data ->> 'datetime')::timestamptz < $6::timestamptz
                or ("order".data ->> 'datetime')::timestamptz > clock_timestamp() + interval '5 minutes')) as counted
 where counted.before = 0
    or (counted.before < $7 and counted.positions <= $8)
 order by counted.nth;

-- readPositionFields, within an order
with part as materialized (
  select following.code, position.nth - 1 as index, jsonb_build_object($1::text, position.data -> $2::text) as data
    from (select counted.code, counted.data
            from (select next.code, next.data,
                         sum(pg_column_size(next.data)) over (order by next.code) - pg_column_size(next.data) as before
                    from (select "order".code, "order".data
                            from "order"
                           where "order".organizer = $3
                             and "order".event = $4
                             and "order".code >= $5 collate "C"
                           order by "order".code
                           limit $6) as next) as counted
           where counted.before = 0
              or counted.before < $7) as following
    left join lateral jsonb_array_elements(following.data -> 'positions') with ordinality as position (data, nth)
      on true
   where following.code > $8 collate "C"
      or position.nth is null
      or position.nth > $9::bigint),
       sized as materialized (
         select part.code, part.index, written.data, octet_length(written.data) as size
           from part
          cross join lateral (select part.data::text as data offset 0) as written)
select counted.code, counted.index, counted.data::json as data, counted."isLast"
  from (select sized.code, sized.index, sized.data,
               lead(sized.code) over by_index is distinct from sized.code as "isLast",
               sum(sized.size) over by_index - sized.size as before
          from sized
        window by_index as (order by sized.code, sized.index)) as counted
 where counted.before < $10
 order by counted.code, counted.index;

-- readAnswerable
with part as materialized (
  select following.code, position.nth - 1 as index,
         jsonb_build_object('id', position.data -> 'id', 'positionid', position.data -> 'positionid') as data
    from (select counted.code, counted.data
            from (select next.code, next.data,
                         sum(pg_column_size(next.data)) over (order by next.code) - pg_column_size(next.data) as before
                    from (select "order".code, "order".data
                            from "order"
                           where "order".organizer = $1
                             and "order".event = $2
                             and "order".code > $3 collate "C"
                           order by "order".code
                           limit $4) as next) as counted
           where counted.before = 0
              or counted.before < $5) as following
    left join lateral jsonb_array_elements(following.data -> 'positions') with ordinality as position (data, nth)
      on true
   where following.code > $6 collate "C"
      or position.nth is null
      or position.nth > $7::bigint),
       sized as materialized (
         select part.code, part.index, written.data, (select coalesce(sum(octet_length(position.state)), 0)
                                                        from position
                                                       where position.organizer = $8
                                                         and position.event = $9
                                                         and position.id = (part.data -> 'id')::bigint)
                + (select coalesce(sum(octet_length(gate_answer.answer)), 0)
                     from gate_answer
                    where gate_answer.organizer = $10
                      and gate_answer.event = $11
                      and gate_answer.position = (part.data -> 'id')::bigint) as size
           from part
          cross join lateral (select part.data::text as data offset 0) as written)
select counted.code, counted.index, counted.data::json as data, counted."isLast"
  from (select sized.code, sized.index, sized.data,
               lead(sized.code) over by_index is distinct from sized.code as "isLast",
               sum(sized.size) over by_index - sized.size as before
          from sized
        window by_index as (order by sized.code, sized.index)) as counted
 where counted.before < $12
 order by counted.code, counted.index;
