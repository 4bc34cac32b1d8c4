-- Written by `npm run statements`. What several functions ask for stands below the first of them.

-- deleteNext, the first positions
with next as materialized (
  select kept.ctid
    from "position" as kept
   where kept.organizer = $1
     and kept.event = $2
     and true
   order by kept."id"
         fetch first ($3::bigint) rows with ties
), deleted as (
  delete from "position" as kept
   where kept.ctid = any(array(select next.ctid from next))
  returning kept."id", kept.voucher is not null as names_voucher
)
select deleted."id"::text as key, deleted.names_voucher as "namesVoucher"
  from deleted
 order by deleted."id";

-- deleteNext, other orders
with next as materialized (
  select kept.ctid
    from "order" as kept
   where kept.organizer = $1
     and kept.event = $2
     and kept."code" > $3::text
   order by kept."code"
         fetch first ($4::bigint) rows with ties
), deleted as (
  delete from "order" as kept
   where kept.ctid = any(array(select next.ctid from next))
  returning kept."code", false as names_voucher
)
select deleted."code"::text as key, deleted.names_voucher as "namesVoucher"
  from deleted
 order by deleted."code";
