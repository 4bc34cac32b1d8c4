-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- pageBatches
select "batch"."organizer", "batch"."event", "batch"."id", "batch"."job", "batch"."created_at", "batch"."testmode", "batch"."sales_channel",
       "batch"."layout", "batch"."subevent", "batch"."item", "batch"."variation", "batch"."amount", "batch"."comment", "batch"."canceled_at"
  from batch
 where batch.organizer = $1
   and batch.event = $2
   and ($3::bigint is null or batch.item = $4)
   and ($5::bigint is null or batch.variation = $6)
   and ($7::bigint is null or batch.subevent = $8)
   and ($9::bigint is null or batch.layout = $10)
   and ($11::text is null or batch.sales_channel = $12)
   and ($13::boolean is null or batch.testmode = $14)
 order by batch.id, batch.id
 limit $15 offset $16;

-- pageBatches, in an order
select "batch"."organizer", "batch"."event", "batch"."id", "batch"."job", "batch"."created_at", "batch"."testmode", "batch"."sales_channel",
       "batch"."layout", "batch"."subevent", "batch"."item", "batch"."variation", "batch"."amount", "batch"."comment", "batch"."canceled_at"
  from batch
 where batch.organizer = $1
   and batch.event = $2
   and ($3::bigint is null or batch.item = $4)
   and ($5::bigint is null or batch.variation = $6)
   and ($7::bigint is null or batch.subevent = $8)
   and ($9::bigint is null or batch.layout = $10)
   and ($11::text is null or batch.sales_channel = $12)
   and ($13::boolean is null or batch.testmode = $14)
 order by batch.created_at desc, batch.id desc
 limit $15 offset $16;
