-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- pageVouchers
select set_config('enable_sort', $1, true);

-- pageVouchers
select voucher.id as id
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
 order by voucher.id limit $3 offset $4;

-- pageVouchers
select "voucher"."organizer", "voucher"."event", "voucher"."id", "voucher"."revision", "voucher"."code", "voucher"."max_usages",
       "voucher"."min_usages", "voucher"."valid_until_at", "voucher"."block_quota", "voucher"."allow_ignore_quota", "voucher"."price_mode",
       "voucher"."value", "voucher"."item", "voucher"."variation", "voucher"."quota", "voucher"."seat", "voucher"."tag",
       "voucher"."comment", "voucher"."subevent", "voucher"."show_hidden_items", "voucher"."all_addons_included",
       "voucher"."all_bundles_included", "voucher"."budget", "voucher"."created_at", "voucher"."redeemed", "voucher"."budget_used",
       "voucher"."base_redeemed", "voucher"."base_budget_used", "voucher"."counted_as_of_at"
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
   and voucher.id = any($3::bigint[]);

-- pageVouchers, from the end
select voucher.id as id
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
 order by voucher.id desc limit $3 offset $4;

-- pageVouchers, by code
select voucher.id as id
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
 order by voucher.code, voucher.id desc limit $3 offset $4;

-- pageVouchers, by usages
select voucher.id as id
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
 order by voucher.max_usages desc, voucher.id desc limit $3 offset $4;

-- pageVouchers, by end
select voucher.id as id
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
 order by voucher.valid_until_at, voucher.id desc limit $3 offset $4;

-- pageVouchers, by value and code
select voucher.id as id
  from voucher
 where voucher.organizer = $1 and voucher.event = $2
 order by voucher.value desc, voucher.code, voucher.id desc limit $3 offset $4;

-- pageVouchers, few vouchers
with found as materialized (
  select voucher.id as id, voucher.id as "by0"
    from voucher
   where voucher.organizer = $1 and voucher.event = $2
     and ((voucher.redeemed >= voucher.max_usages) or voucher.valid_until_at <= now())
)
select found.id
  from found
 order by found."by0"
 limit $3 offset $4;
