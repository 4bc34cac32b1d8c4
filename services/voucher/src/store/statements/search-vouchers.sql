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
                and (translate((voucher.code || E'\n' || voucher.tag || E'\n' || voucher.comment) collate "default", $6, $7) ilike $8)
              order by voucher.id desc
              limit $9) as ids;

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
                      where ((voucher.code || E'\n' || voucher.tag || E'\n' || voucher.comment) collate "default" ilike $1)
                        and (translate((voucher.code || E'\n' || voucher.tag || E'\n' || voucher.comment) collate "default", $2,
                                       $3) ilike $4)) as voucher
              where voucher.organizer = $5 and voucher.event = $6
                and ((voucher.redeemed >= voucher.max_usages) or voucher.valid_until_at <= now())
              limit $7) as ids;

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
                and (translate(voucher.code collate "default", $8, $9) ilike $10
                     or translate(voucher.code collate "default", $11, $12) ilike $13
                     or translate(voucher.tag collate "default", $14, $15) ilike $16
                     or translate(voucher.tag collate "default", $17, $18) ilike $19
                     or translate(voucher.comment collate "default", $20, $21) ilike $22
                     or translate(voucher.comment collate "default", $23, $24) ilike $25)
              order by voucher.id desc
              limit $26) as ids;
