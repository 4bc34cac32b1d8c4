-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- lockVouchers
select "voucher"."organizer", "voucher"."event", "voucher"."id", "voucher"."revision", "voucher"."code", "voucher"."max_usages",
       "voucher"."min_usages", "voucher"."valid_until_at", "voucher"."block_quota", "voucher"."allow_ignore_quota", "voucher"."price_mode",
       "voucher"."value", "voucher"."item", "voucher"."variation", "voucher"."quota", "voucher"."seat", "voucher"."tag",
       "voucher"."comment", "voucher"."subevent", "voucher"."show_hidden_items", "voucher"."all_addons_included",
       "voucher"."all_bundles_included", "voucher"."budget", "voucher"."created_at", "voucher"."redeemed", "voucher"."budget_used",
       "voucher"."base_redeemed", "voucher"."base_budget_used", "voucher"."counted_as_of_at"
  from (select sent.organizer, sent.event, sent.id
          from unnest($1::text[], $2::text[], $3::bigint[]) as "sent" ("organizer", "event", "id")
         order by sent.organizer collate "C", sent.event collate "C", sent.id) as wanted
 cross join lateral (
   select "voucher"."organizer", "voucher"."event", "voucher"."id", "voucher"."revision", "voucher"."code", "voucher"."max_usages",
          "voucher"."min_usages", "voucher"."valid_until_at", "voucher"."block_quota", "voucher"."allow_ignore_quota",
          "voucher"."price_mode", "voucher"."value", "voucher"."item", "voucher"."variation", "voucher"."quota", "voucher"."seat",
          "voucher"."tag", "voucher"."comment", "voucher"."subevent", "voucher"."show_hidden_items", "voucher"."all_addons_included",
          "voucher"."all_bundles_included", "voucher"."budget", "voucher"."created_at", "voucher"."redeemed", "voucher"."budget_used",
          "voucher"."base_redeemed", "voucher"."base_budget_used", "voucher"."counted_as_of_at"
     from voucher
    where (voucher.organizer, voucher.event, voucher.id) >= (wanted.organizer, wanted.event, wanted.id)
      and (voucher.organizer, voucher.event, voucher.id) <= (wanted.organizer, wanted.event, wanted.id)
    order by voucher.organizer, voucher.event, voucher.id
    limit 1
      for no key update) as voucher;
