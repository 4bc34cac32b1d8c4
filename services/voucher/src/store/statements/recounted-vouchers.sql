-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- recountVouchers
select voucher.organizer, voucher.event, voucher.id, truth.redeemed, truth.budget_used as "budgetUsed",
       truth.redeemed_more as "redeemedMore", truth.budget_more as "budgetMore",
       (voucher.redeemed, voucher.budget_used) = (truth.redeemed, truth.budget_used)
   and coalesce((select (use_sum.redeemed, use_sum.budget_used) = (truth.redeemed_more, truth.budget_more)
                   from use_sum
                  where use_sum.organizer = voucher.organizer
                    and use_sum.event = voucher.event
                    and use_sum.voucher = voucher.id),
                (truth.redeemed_more, truth.budget_more) = (0, 0)) as "isRight"
  from unnest($1::text[], $2::text[], $3::bigint[]) as "wanted" ("organizer", "event", "id")
 cross join lateral (
   select voucher.organizer, voucher.event, voucher.id, voucher.redeemed, voucher.budget_used, voucher.base_redeemed,
          voucher.base_budget_used, voucher.counted_as_of_at
     from voucher
    where (voucher.organizer, voucher.event, voucher.id) >= (wanted.organizer, wanted.event, wanted.id)
      and (voucher.organizer, voucher.event, voucher.id) <= (wanted.organizer, wanted.event, wanted.id)
    order by voucher.organizer, voucher.event, voucher.id
    limit 1) as voucher
 cross join lateral (
   select greatest(0, voucher.base_redeemed + now.redeemed - at_record.redeemed) as redeemed,
          greatest(0, voucher.base_budget_used + now.budget - at_record.budget)::numeric(15, 2) as budget_used,
          now.redeemed - at_record.redeemed as redeemed_more, (now.budget - at_record.budget)::numeric(15, 2) as budget_more
     from (select count(*) filter (where current_use.counts) as redeemed,
                  coalesce(sum(current_use.budget), 0) as budget
             from current_use
            where current_use.organizer = voucher.organizer
              and current_use.event = voucher.event
              and current_use.voucher = voucher.id) as now,
          (select count(*) filter (where contained.counts) as redeemed, coalesce(sum(contained.budget), 0) as budget
             from (select current_use.counts, current_use.budget
                     from current_use
                    where current_use.organizer = voucher.organizer
                      and current_use.event = voucher.event
                      and current_use.voucher = voucher.id
                      and current_use.since_at < voucher.counted_as_of_at
                    union all
                   select former_use.counts, former_use.budget
                     from former_use
                    where former_use.organizer = voucher.organizer
                      and former_use.event = voucher.event
                      and former_use.voucher = voucher.id
                      and former_use.since_at < voucher.counted_as_of_at
                      and former_use.until_at >= voucher.counted_as_of_at) as contained) as at_record) as truth;

-- recountNext
select voucher.organizer, voucher.event, voucher.id, truth.redeemed, truth.budget_used as "budgetUsed",
       truth.redeemed_more as "redeemedMore", truth.budget_more as "budgetMore",
       (voucher.redeemed, voucher.budget_used) = (truth.redeemed, truth.budget_used)
   and coalesce((select (use_sum.redeemed, use_sum.budget_used) = (truth.redeemed_more, truth.budget_more)
                   from use_sum
                  where use_sum.organizer = voucher.organizer
                    and use_sum.event = voucher.event
                    and use_sum.voucher = voucher.id),
                (truth.redeemed_more, truth.budget_more) = (0, 0)) as "isRight"
  from (select voucher.organizer, voucher.event, voucher.id, voucher.redeemed, voucher.budget_used,
               voucher.base_redeemed, voucher.base_budget_used, voucher.counted_as_of_at
          from voucher
         where (voucher.organizer, voucher.event, voucher.id) > ($1, $2, $3)
         order by voucher.organizer, voucher.event, voucher.id
         limit $4) as voucher
 cross join lateral (
   select greatest(0, voucher.base_redeemed + now.redeemed - at_record.redeemed) as redeemed,
          greatest(0, voucher.base_budget_used + now.budget - at_record.budget)::numeric(15, 2) as budget_used,
          now.redeemed - at_record.redeemed as redeemed_more, (now.budget - at_record.budget)::numeric(15, 2) as budget_more
     from (select count(*) filter (where current_use.counts) as redeemed,
                  coalesce(sum(current_use.budget), 0) as budget
             from current_use
            where current_use.organizer = voucher.organizer
              and current_use.event = voucher.event
              and current_use.voucher = voucher.id) as now,
          (select count(*) filter (where contained.counts) as redeemed, coalesce(sum(contained.budget), 0) as budget
             from (select current_use.counts, current_use.budget
                     from current_use
                    where current_use.organizer = voucher.organizer
                      and current_use.event = voucher.event
                      and current_use.voucher = voucher.id
                      and current_use.since_at < voucher.counted_as_of_at
                    union all
                   select former_use.counts, former_use.budget
                     from former_use
                    where former_use.organizer = voucher.organizer
                      and former_use.event = voucher.event
                      and former_use.voucher = voucher.id
                      and former_use.since_at < voucher.counted_as_of_at
                      and former_use.until_at >= voucher.counted_as_of_at) as contained) as at_record) as truth
 order by voucher.organizer, voucher.event, voucher.id;
