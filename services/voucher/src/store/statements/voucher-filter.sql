-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- countVouchers, active
select coalesce(sum(voucher_count.vouchers), 0)::bigint as count
  from voucher_count
 where voucher_count.organizer = $1
   and voucher_count.event = $2;

-- countVouchers, active
select count(*) as count
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and ((voucher.redeemed >= voucher.max_usages) or voucher.valid_until_at <= now());

-- countVouchers, active ones of an item
select count(*) as count
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and voucher.item = $3
   and voucher.variation = $4
   and ((voucher.redeemed >= voucher.max_usages) is false and (voucher.valid_until_at is null or voucher.valid_until_at > now()));

-- countVouchers, of a code
select count(*) as count
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and voucher.code = $3
   and voucher.max_usages = $4
   and voucher.redeemed = $5;

-- countVouchers, with a tag
select count(*) as count
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and voucher.block_quota
   and voucher.quota = $3
   and voucher.tag = $4 and voucher.tag <> ''
   and voucher.subevent = $5;

-- countVouchers, of a price
select count(*) as count
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and not voucher.allow_ignore_quota
   and voucher.price_mode = 'set'
   and voucher.value = $3::numeric;

-- countVouchers, of another price
select count(*) as count
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and voucher.price_mode = 'percent'
   and voucher.id = any($3::bigint[]);
