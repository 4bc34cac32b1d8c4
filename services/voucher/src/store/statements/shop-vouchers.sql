-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- findShopVouchers
select voucher.id, voucher.code, voucher.max_usages as "maxUsages", voucher.min_usages as "minUsages",
       voucher.valid_until_at as "validUntil", voucher.price_mode as "priceMode", voucher.value, voucher.item,
       voucher.variation, voucher.quota, voucher.subevent, voucher.seat, voucher.budget, voucher.redeemed,
       voucher.budget_used as "budgetUsed", reserved.uses as reserved, reserved.budget as "reservedBudget"
  from voucher
 cross join lateral (select count(*) as uses, coalesce(sum(reserved_use.budget), 0) as budget
                       from reserved_use
                      where reserved_use.organizer = voucher.organizer
                        and reserved_use.event = voucher.event
                        and reserved_use.voucher = voucher.id
                        and reserved_use.expires_at > clock_timestamp()) as reserved
 where voucher.organizer = $1
   and voucher.event = $2
   and voucher.code = any($3::text[]);

-- findShopVouchers, also of seats
select voucher.id, voucher.code, voucher.max_usages as "maxUsages", voucher.min_usages as "minUsages",
       voucher.valid_until_at as "validUntil", voucher.price_mode as "priceMode", voucher.value, voucher.item,
       voucher.variation, voucher.quota, voucher.subevent, voucher.seat, voucher.budget, voucher.redeemed,
       voucher.budget_used as "budgetUsed", reserved.uses as reserved, reserved.budget as "reservedBudget"
  from voucher
 cross join lateral (select count(*) as uses, coalesce(sum(reserved_use.budget), 0) as budget
                       from reserved_use
                      where reserved_use.organizer = voucher.organizer
                        and reserved_use.event = voucher.event
                        and reserved_use.voucher = voucher.id
                        and reserved_use.expires_at > clock_timestamp()) as reserved
 where voucher.organizer = $1
   and voucher.event = $2
   and voucher.code = any($3::text[])
 union
select voucher.id, voucher.code, voucher.max_usages as "maxUsages", voucher.min_usages as "minUsages",
       voucher.valid_until_at as "validUntil", voucher.price_mode as "priceMode", voucher.value, voucher.item,
       voucher.variation, voucher.quota, voucher.subevent, voucher.seat, voucher.budget, voucher.redeemed,
       voucher.budget_used as "budgetUsed", reserved.uses as reserved, reserved.budget as "reservedBudget"
  from voucher
 cross join lateral (select count(*) as uses, coalesce(sum(reserved_use.budget), 0) as budget
                       from reserved_use
                      where reserved_use.organizer = voucher.organizer
                        and reserved_use.event = voucher.event
                        and reserved_use.voucher = voucher.id
                        and reserved_use.expires_at > clock_timestamp()) as reserved
 where voucher.organizer = $4
   and voucher.event = $5
   and voucher.seat is not null and voucher.seat = any($6::text[]);
