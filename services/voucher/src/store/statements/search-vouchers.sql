-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- searchVouchers, all of them
select coalesce(sum(voucher_count.vouchers), 0)::bigint as count
  from voucher_count
 where voucher_count.organizer = $1
   and voucher_count.event = $2;

-- searchVouchers, all of them
with read as materialized (
  select voucher.organizer, voucher.event, voucher.id, voucher.code, voucher.max_usages, voucher.redeemed, voucher.valid_until_at,
         voucher.block_quota,
         voucher.allow_ignore_quota, voucher.price_mode, voucher.value, voucher.item, voucher.variation, voucher.quota,
         voucher.tag, voucher.comment, voucher.subevent
    from voucher
   where voucher.organizer = $1 and voucher.event = $2
)
select array(select voucher.id
               from read as voucher
              where voucher.organizer = $3 and voucher.event = $4
                and ((voucher.code || E'\n' || voucher.tag || E'\n' || voucher.comment) collate "default" ilike $5)
              order by voucher.id desc
              limit $6) as ids;

-- searchVouchers, many vouchers
select count(*) as count
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and ((voucher.redeemed >= voucher.max_usages) or voucher.valid_until_at <= now());

-- searchVouchers, many vouchers
select array(select voucher.id
               from (select voucher.organizer || '' as organizer, voucher.event || '' as event, voucher.id, voucher.code,
                            voucher.max_usages, voucher.redeemed, voucher.valid_until_at, voucher.block_quota,
                            voucher.allow_ignore_quota, voucher.price_mode, voucher.value, voucher.item, voucher.variation, voucher.quota,
                            voucher.tag, voucher.comment, voucher.subevent
                       from voucher
                      where ((voucher.code || E'\n' || voucher.tag || E'\n' || voucher.comment) collate "default" ilike $1)) as voucher
              where voucher.organizer = $2 and voucher.event = $3
                and ((voucher.redeemed >= voucher.max_usages) or voucher.valid_until_at <= now())
              limit $4) as ids;

-- searchVouchers, across fields
with read as materialized (
  select voucher.organizer, voucher.event, voucher.id, voucher.code, voucher.max_usages, voucher.redeemed, voucher.valid_until_at,
         voucher.block_quota,
         voucher.allow_ignore_quota, voucher.price_mode, voucher.value, voucher.item, voucher.variation, voucher.quota,
         voucher.tag, voucher.comment, voucher.subevent
    from voucher
   where voucher.organizer = $1 and voucher.event = $2
   order by voucher.organizer desc, voucher.event desc, voucher.id desc
   limit $3
)
select array(select voucher.id
               from read as voucher
              where voucher.organizer = $4 and voucher.event = $5
                and ((voucher.redeemed >= voucher.max_usages) or voucher.valid_until_at <= now())
                and ((voucher.code || E'\n' || voucher.tag || E'\n' || voucher.comment) collate "default" ilike $6
                     or (voucher.code || E'\n' || voucher.tag || E'\n' || voucher.comment) collate "default" ilike $7)
                and (voucher.code collate "default" ilike $8
                     or voucher.code collate "default" ilike $9
                     or voucher.tag collate "default" ilike $10
                     or voucher.tag collate "default" ilike $11
                     or voucher.comment collate "default" ilike $12 or voucher.comment collate "default" ilike $13)
              order by voucher.id desc
              limit $14) as ids;
