-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- forgetClaims
update voucher_claim
   set max_usages = null,
       blocks = false,
       recorded_uses = 0,
       counted_as_of_at = null,
       seat = null,
       revision = 0,
       known_columns = $1
  from unnest($2::text[], $3::text[], $4::bigint[]) as "gone" ("organizer", "event", "id")
 where voucher_claim.organizer = gone.organizer
   and voucher_claim.event = gone.event
   and voucher_claim.id = gone.id;

-- forgetClaims
with counted as materialized (
  select used.organizer, used.event, used.voucher as id, sum(used.uses)::bigint as uses
    from (select position.organizer, position.event, position.voucher, position.voucher_since_at as since_at,
                 null::timestamptz as until_at, 1 as uses
            from position
           where position.voucher is not null
             and position.taken_as is not null
             and (position.organizer, position.event, position.voucher) in (select wanted.organizer, wanted.event, wanted.id
                                                                              from unnest($1::text[], $2::text[],
                                                                                          $3::bigint[]) as "wanted" ("organizer", "event",
                                                                                                                     "id"))
           union all
          select former_use.organizer, former_use.event, former_use.voucher, former_use.since_at, former_use.until_at, -1
            from former_use
           where former_use.counts
             and (former_use.organizer, former_use.event, former_use.voucher) in (select wanted.organizer, wanted.event, wanted.id
                                                                                    from unnest($4::text[], $5::text[],
                                                                                                $6::bigint[]) as "wanted" ("organizer",
                                                                                                                           "event",
                                                                                                                           "id"))) as used
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
select counted.organizer, counted.event, counted.id, counted.uses, 0, $7::integer
  from counted
 union all
select unused.organizer, unused.event, unused.id, 0, 0, $8::integer
  from voucher_claim as unused
 where unused.uses <> 0
   and (unused.organizer, unused.event, unused.id) in (select wanted.organizer, wanted.event, wanted.id
                                                         from unnest($9::text[], $10::text[], $11::bigint[]) as "wanted" ("organizer",
                                                                                                                          "event", "id"))
   and (unused.organizer, unused.event, unused.id) not in (select counted.organizer, counted.event, counted.id from counted)
    on conflict (organizer, event, id) do update
   set uses = excluded.uses
 where kept.uses <> excluded.uses;

-- forgetClaims
with unused as materialized (
  select found.ctid
    from unnest($1::text[], $2::text[], $3::bigint[]) as "gone" ("organizer", "event", "id")
   cross join lateral (
     select voucher_claim.ctid, voucher_claim.uses
       from voucher_claim
      where (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) >= (gone.organizer, gone.event, gone.id)
        and (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) <= (gone.organizer, gone.event, gone.id)
      order by voucher_claim.organizer, voucher_claim.event, voucher_claim.id
      limit 1
        for update) as found
   where found.uses = 0
)
delete from voucher_claim where voucher_claim.ctid = any(array(select unused.ctid from unused));

-- putClaims
select kept.organizer, kept.event, kept.id, kept.counted_as_of_at as "countedAsOf", kept.recorded_uses as "recordedUses"
  from unnest($1::text[], $2::text[], $3::bigint[]) as "wanted" ("organizer", "event", "id")
 cross join lateral (
   select voucher_claim.organizer, voucher_claim.event, voucher_claim.id, voucher_claim.counted_as_of_at,
          voucher_claim.recorded_uses
     from voucher_claim
    where (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) >= (wanted.organizer, wanted.event, wanted.id)
      and (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) <= (wanted.organizer, wanted.event, wanted.id)
    order by voucher_claim.organizer, voucher_claim.event, voucher_claim.id
    limit 1
      for no key update) as kept;

-- putClaims
insert into "voucher_claim" ("organizer", "event", "id", "item", "variation", "quota", "subevent", "valid_until_at", "seat", "max_usages",
                             "blocks", "recorded_uses", "counted_as_of_at", "revision", known_columns)
select sent."organizer", sent."event", sent."id", sent."item", sent."variation", sent."quota", sent."subevent", sent."valid_until_at",
       sent."seat", sent."max_usages", sent."blocks", sent."recorded_uses", sent."counted_as_of_at", sent."revision", $1::integer
  from unnest($2::text[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[], $9::timestamptz[], $10::text[],
              $11::bigint[], $12::boolean[], $13::bigint[], $14::timestamptz[],
              $15::bigint[]) as sent ("organizer", "event", "id", "item", "variation", "quota", "subevent", "valid_until_at", "seat",
                                      "max_usages", "blocks", "recorded_uses", "counted_as_of_at", "revision")
    on conflict ("organizer", "event", "id") do update set "item" = excluded."item", "variation" = excluded."variation",
       "quota" = excluded."quota", "subevent" = excluded."subevent", "valid_until_at" = excluded."valid_until_at", "seat" = excluded."seat",
       "max_usages" = excluded."max_usages", "blocks" = excluded."blocks", "recorded_uses" = excluded."recorded_uses",
       "counted_as_of_at" = excluded."counted_as_of_at", "revision" = excluded."revision", "known_columns" = excluded."known_columns"
 where "voucher_claim".revision < excluded.revision;

-- readLedger
with line as materialized (
  select claim.organizer, claim.event, claim.voucher, claim.item, claim.variation, claim.quota, claim.subevent,
         (claim.usages - coalesce(greatest(kept.recorded_uses + kept.uses, 0), 0)) as amount,
         kept.item as kept_item, kept.variation as kept_variation, kept.quota as kept_quota,
         kept.subevent as kept_subevent, (kept.max_usages - greatest(kept.recorded_uses + kept.uses, 0)) as kept_amount,
         coalesce(kept.blocks
                  and kept.max_usages > greatest(kept.recorded_uses + kept.uses, 0)
                  and (kept.valid_until_at is null or kept.valid_until_at >= statement_timestamp()), false) as is_kept,
         count(*) over (partition by claim.organizer, claim.event, claim.voucher) as lines
    from unnest($1::text[], $2::text[]) as "wanted" ("organizer", "event")
    join held_claim as claim on claim.organizer = wanted.organizer and claim.event = wanted.event
    left join lateral (
      select voucher_claim.item, voucher_claim.variation, voucher_claim.quota, voucher_claim.subevent, voucher_claim.max_usages,
             voucher_claim.blocks, voucher_claim.recorded_uses,
             voucher_claim.uses, voucher_claim.valid_until_at
        from voucher_claim
       where (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) >= (claim.organizer, claim.event, claim.voucher)
         and (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) <= (claim.organizer, claim.event, claim.voucher)
       order by voucher_claim.organizer, voucher_claim.event, voucher_claim.id
       limit 1) as kept on true
   where (claim.usages - coalesce(greatest(kept.recorded_uses + kept.uses, 0), 0)) > 0
     and (claim.valid_until_at is null or claim.valid_until_at >= statement_timestamp())
), held as materialized (
  select line.organizer, line.event, line.voucher, line.item, line.variation, line.quota, line.subevent, line.amount, line.kept_item,
         line.kept_variation,
         line.kept_quota, line.kept_subevent, line.kept_amount, line.is_kept,
         line.lines = 1 and not line.is_kept as is_alone
    from line
)
select read.part, read.organizer, read.event, read.voucher, read.is_held as "isHeld", read.item, read.variation, read.quota, read.subevent,
       read.amount, read.taken_as as "takenAs"
  from (
    select 'sum' as part, claim.organizer, claim.event, null::bigint as voucher, false as is_held, claim.item, claim.variation, claim.quota,
           claim.subevent,
           sum((claim.max_usages - greatest(claim.recorded_uses + claim.uses, 0)))::bigint as amount, null::text as taken_as
      from unnest($3::text[], $4::text[]) as "wanted" ("organizer", "event")
      join voucher_claim as claim on claim.organizer = wanted.organizer and claim.event = wanted.event
     where claim.blocks
       and claim.max_usages > greatest(claim.recorded_uses + claim.uses, 0)
       and (claim.valid_until_at is null or claim.valid_until_at >= statement_timestamp())
     group by claim.organizer, claim.event, claim.item, claim.variation, claim.quota, claim.subevent union all
    select 'sum', held.organizer, held.event, null, true, held.item, held.variation, held.quota, held.subevent, sum(held.amount)::bigint,
           null
      from held
     where held.is_alone
     group by held.organizer, held.event, held.item, held.variation, held.quota, held.subevent union all
    select 'several', held.organizer, held.event, held.voucher, true, held.item, held.variation, held.quota, held.subevent, held.amount,
           null
      from held
     where not held.is_alone union all
    select 'several', held.organizer, held.event, held.voucher, false, held.kept_item, held.kept_variation,
           held.kept_quota, held.kept_subevent, held.kept_amount, null
      from held
     where held.is_kept union all
    select 'own', wanted.organizer, wanted.event, wanted.voucher, false, claim.item, claim.variation, claim.quota, claim.subevent,
           (claim.max_usages - greatest(claim.recorded_uses + claim.uses, 0)), null
      from unnest($5::text[], $6::text[], $7::bigint[]) as "wanted" ("organizer", "event", "voucher")
     cross join lateral (
       select voucher_claim.item, voucher_claim.variation, voucher_claim.quota, voucher_claim.subevent, voucher_claim.max_usages,
              voucher_claim.blocks, voucher_claim.recorded_uses,
              voucher_claim.uses, voucher_claim.valid_until_at
         from voucher_claim
        where (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) >= (wanted.organizer, wanted.event, wanted.voucher)
          and (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) <= (wanted.organizer, wanted.event, wanted.voucher)
        order by voucher_claim.organizer, voucher_claim.event, voucher_claim.id
        limit 1) as claim
     where claim.blocks
       and claim.max_usages > greatest(claim.recorded_uses + claim.uses, 0)
       and (claim.valid_until_at is null or claim.valid_until_at >= statement_timestamp())
       and wanted.voucher <= (select max(newest.id)
                                from voucher_claim as newest
                               where newest.organizer = $8 and newest.event = $9) union all
    select 'own', wanted.organizer, wanted.event, wanted.voucher, true, claim.item, claim.variation, claim.quota, claim.subevent,
           (claim.usages - coalesce(greatest(kept.recorded_uses + kept.uses, 0), 0)), null
      from unnest($10::text[], $11::text[], $12::bigint[]) as "wanted" ("organizer", "event", "voucher")
      join held_claim as claim
        on claim.organizer = wanted.organizer
           and claim.event = wanted.event
           and claim.voucher = wanted.voucher
      left join lateral (
        select voucher_claim.item, voucher_claim.variation, voucher_claim.quota, voucher_claim.subevent, voucher_claim.max_usages,
               voucher_claim.blocks, voucher_claim.recorded_uses,
               voucher_claim.uses, voucher_claim.valid_until_at
          from voucher_claim
         where (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) >= (wanted.organizer, wanted.event, wanted.voucher)
           and (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) <= (wanted.organizer, wanted.event, wanted.voucher)
         order by voucher_claim.organizer, voucher_claim.event, voucher_claim.id
         limit 1) as kept on true
     where (claim.usages - coalesce(greatest(kept.recorded_uses + kept.uses, 0), 0)) > 0
       and (claim.valid_until_at is null or claim.valid_until_at >= statement_timestamp())
       and wanted.voucher <= (select max(newest.voucher)
                                from held_claim as newest
                               where newest.organizer = $13 and newest.event = $14) union all
    select 'uses', wanted.organizer, wanted.event, wanted.voucher, false, null, null, null, null,
           greatest(claim.recorded_uses + claim.uses, 0), null
      from unnest($15::text[], $16::text[], $17::bigint[]) as "wanted" ("organizer", "event", "voucher")
     cross join lateral (
       select voucher_claim.item, voucher_claim.variation, voucher_claim.quota, voucher_claim.subevent, voucher_claim.max_usages,
              voucher_claim.blocks, voucher_claim.recorded_uses,
              voucher_claim.uses, voucher_claim.valid_until_at
         from voucher_claim
        where (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) >= (wanted.organizer, wanted.event, wanted.voucher)
          and (voucher_claim.organizer, voucher_claim.event, voucher_claim.id) <= (wanted.organizer, wanted.event, wanted.voucher)
        order by voucher_claim.organizer, voucher_claim.event, voucher_claim.id
        limit 1) as claim
     where wanted.voucher <= (select max(newest.id)
                                from voucher_claim as newest
                               where newest.organizer = $18 and newest.event = $19) union all
    select 'taken', position.organizer, position.event, null, false, position.item, position.variation, null,
           position.subevent, position.positions, position.taken_as
      from unnest($20::text[], $21::text[]) as "wanted" ("organizer", "event")
      join taken_capacity as position on position.organizer = wanted.organizer and position.event = wanted.event) as read;
