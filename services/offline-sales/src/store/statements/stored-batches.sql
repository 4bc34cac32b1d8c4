-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- pageBatches
select "batch"."organizer", "batch"."event", "batch"."id", "batch"."job", "batch"."created_at", "batch"."testmode", "batch"."sales_channel",
       "batch"."layout", "batch"."subevent", "batch"."item", "batch"."variation", "batch"."amount", "batch"."comment", "batch"."canceled_at"
  from batch
 where batch.organizer = $1
   and batch.event = $2
 order by batch.id
 limit $3 offset $4;
