-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- readUses
select wanted.id, named.voucher, named.taken_as is not null as counts, named.budget_use as budget,
       coalesce(named.since, ended.at) as since,
       case when named.voucher is null then ended.overtaken_at else named.voucher_overtaken_at end as "overtakenAt"
  from unnest($1::bigint[]) as wanted (id)
  left join lateral (
    select position.voucher, position.taken_as, position.budget_use, position.voucher_overtaken_at,
           position.voucher_since_at as since
      from position
     where position.voucher is not null
       and (position.organizer, position.event, position.id) >= ($2, $3, wanted.id)
       and (position.organizer, position.event, position.id) <= ($4, $5, wanted.id) order by position.organizer, position.event, position.id
     limit 1) as named
    on true
  left join lateral (
    select former_use.until_at as at,
           (select position.voucher_overtaken_at
              from position
             where (position.organizer, position.event, position.id) >= ($6, $7, wanted.id)
               and (position.organizer, position.event, position.id) <= ($8, $9, wanted.id)
             order by position.organizer, position.event, position.id) as overtaken_at
      from former_use
     where former_use.organizer = $10
       and former_use.event = $11
       and former_use.position = wanted.id
     order by former_use.until_at desc
     limit 1) as ended
    on true
 where named.voucher is not null
    or ended.at is not null;

-- lockRecords
insert into voucher_claim as kept (organizer, event, id, revision, known_columns)
select $1, $2, named.id, 0, $3
  from unnest($4::bigint[]) as named (id)
 order by named.id
    on conflict (organizer, event, id) do update
   set uses = kept.uses
returning kept.id, kept.counted_as_of_at as "countedAsOf", (extract(epoch from clock_timestamp()) * 1000000)::bigint as now;

-- recountAllUses
lock table voucher_claim in share row exclusive mode;

-- recountAllUses
with counted as materialized (
  select used.organizer, used.event, used.voucher as id, sum(used.uses)::bigint as uses
    from (select position.organizer, position.event, position.voucher, position.voucher_since_at as since_at,
                 null::timestamptz as until_at, 1 as uses
            from position
           where position.voucher is not null
             and position.taken_as is not null
             and true
           union all
          select former_use.organizer, former_use.event, former_use.voucher, former_use.since_at, former_use.until_at, -1
            from former_use
           where former_use.counts
             and true) as used
    left join voucher_claim as claim
      on claim.organizer = used.organizer
         and claim.event = used.event
         and claim.id = used.voucher
   where case
           when used.until_at is null
           then claim.counted_as_of_at is null or used.since_at >= claim.counted_as_of_at
           else used.since_at < claim.counted_as_of_at and used.until_at >= claim.counted_as_of_at
         end
   group by used.organizer, used.event, used.voucher
  having sum(used.uses) <> 0)
insert into voucher_claim as kept (organizer, event, id, uses, revision, known_columns)
select counted.organizer, counted.event, counted.id, counted.uses, 0, $1::integer
  from counted
 union all
select unused.organizer, unused.event, unused.id, 0, 0, $2::integer
  from voucher_claim as unused
 where unused.uses <> 0
   and true
   and (unused.organizer, unused.event, unused.id) not in (select counted.organizer, counted.event, counted.id from counted)
    on conflict (organizer, event, id) do update
   set uses = excluded.uses
 where kept.uses <> excluded.uses;
